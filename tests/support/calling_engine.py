"""A real engine that calls the tools a test names, as small models rarely do by themselves.

A relay in front of it asks for the call by the engine's own means: `tool_choice` names the
function, and a schema of constants leaves its grammar one sequence of tokens. After a tool's
result the model answers in words. Everything else of a request reaches the engine as it was sent.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from infra.services.ports import free_port
from tests.support.engine import ENGINE_KEY, Engine
from tests.support.pools import pools_beside
from tests.support.product import Product

MODEL = "caller"
TURN_TOKENS = 96
CHAT = "/v1/chat/completions"
_BETWEEN_HOPS = {"host", "content-length", "transfer-encoding", "connection"}


class CallingEngine:
    """Runs in a thread. `bodies` are the chats as the gateway sent them, oldest first."""

    def __init__(self, engine: Engine) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._calls: tuple[str, dict[str, Any]] | None = None
        self._client = httpx.AsyncClient(base_url=engine.url, timeout=120)
        self._port = free_port()
        application = Starlette(
            routes=[Route("/{path:path}", self._relay, methods=["GET", "POST"])]
        )
        config = uvicorn.Config(application, port=self._port, log_level="error")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()

    def calls(self, function: str, **arguments: str) -> None:
        """From now on each answer to a person is a call of the function whose name contains that,
        where it is offered."""
        self._calls = function, arguments

    async def _relay(self, request: Request) -> Response:
        body = await request.body()
        if request.url.path == CHAT:
            chat = json.loads(body)
            self.bodies.append(chat)
            body = json.dumps(self._forced(chat)).encode()
        headers = [pair for pair in request.headers.items() if pair[0] not in _BETWEEN_HOPS]
        sent = self._client.build_request(
            request.method, request.url.path, headers=headers, content=body
        )
        answer = await self._client.send(sent, stream=True)
        return StreamingResponse(
            answer.aiter_raw(),
            answer.status_code,
            {key: value for key, value in answer.headers.items() if key not in _BETWEEN_HOPS},
            background=BackgroundTask(answer.aclose),
        )

    def _forced(self, chat: dict[str, Any]) -> dict[str, Any]:
        if not chat.get("tools"):
            return chat
        if chat["messages"][-1]["role"] == "tool":
            return {**chat, "tool_choice": "none"}
        if self._calls is None:
            return chat
        wanted, arguments = self._calls
        names = [tool["function"]["name"] for tool in chat["tools"]]
        name = next((name for name in names if wanted in name), None)
        if name is None:
            return chat
        constants = {key: {"const": value} for key, value in arguments.items()}
        schema = {"type": "object", "properties": constants, "required": list(constants)}
        tools = [
            {**tool, "function": {**tool["function"], "parameters": schema}}
            if tool["function"]["name"] == name
            else tool
            for tool in chat["tools"]
        ]
        choice = {"type": "function", "function": {"name": name}}
        return {**chat, "tools": tools, "tool_choice": choice}


@contextmanager
def calling_model(product: Product, engine: Engine) -> Iterator[CallingEngine]:
    """The product with the model `MODEL`: its engine, made to call."""
    relay = CallingEngine(engine)
    relay.start()
    definition = {
        "id": MODEL,
        "name": "Caller",
        "context_window": 8192,
        "max_output_tokens": 4096,
        "capabilities": ["chat", "streaming", "tools", "grammar_resume"],
        "upstream_model": engine.model,
        "sampling": {"temperature": 0},
        "turn_tokens": TURN_TOKENS,
        "price_per_1k": {"input": "1", "cached_input": "1", "output": "1"},
        "replica": [{"name": MODEL, "url": relay.url, "api_key": ENGINE_KEY}],
    }
    try:
        with pools_beside(product, [definition]):
            yield relay
    finally:
        relay.stop()
