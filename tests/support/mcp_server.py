"""A real MCP server on this machine, with tools that behave and tools that do not."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import AnyHttpUrl

from infra.services.ports import free_port
from tests.support.oauth_server import AuthorizationServer

TOKEN = "token-of-the-tests"
HUGE = 5_000_000
Asgi = Callable[..., Awaitable[None]]


class ToolServer:
    """Runs in a thread. `called` is what was really carried out, oldest first."""

    def __init__(
        self, signs_in: AuthorizationServer | None = None, *, has_sessions: bool = False
    ) -> None:
        """
        Args:
            signs_in: lets nobody in without a token of that server, made for this one.
            has_sessions: knows which call a notification is about.
        """
        self._signs_in = signs_in
        self._has_sessions = has_sessions
        self.may_answer = threading.Event()
        """Until it is set, `pay` and `look` do not."""
        self.cancelled: list[str] = []
        """Calls that were given up for want of who asked for them."""
        self.called: list[tuple[str, str]] = []
        self.forecast = "Sunny, 21 degrees."
        self.answers_as: Asgi | None = None
        """In place of the protocol: an application that lies."""
        self.seen_tokens: set[str] = set()
        self._port = free_port()
        config = uvicorn.Config(
            self._application(), port=self._port, log_level="error", lifespan="on"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/mcp"

    def start(self) -> None:
        self._thread.start()
        deadline = time.monotonic() + 30
        while not self._server.started:
            assert time.monotonic() < deadline, "the MCP server did not start"
            time.sleep(0.05)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=10)

    def describe_forecast(self, description: str = "The weather in a city.") -> None:
        """Say this of `forecast` from now on."""
        with suppress(ToolError):
            self._mcp.remove_tool("forecast")
        self._mcp.add_tool(
            self._tell_forecast,
            name="forecast",
            description=description,
            annotations=ToolAnnotations(title="Forecast", read_only_hint=True),
        )

    def _tell_forecast(self, city: str) -> str:
        self.called.append(("forecast", city))
        return self.forecast

    def _application(self) -> Asgi:
        server = self._mcp = MCPServer("weather", **self._protection())
        called = self.called
        self.describe_forecast()

        @server.tool()
        def book(city: str) -> str:
            """Book a trip."""
            called.append(("book", city))
            return f"Booked a trip to {city}."

        @server.tool(annotations=ToolAnnotations(destructive_hint=True))
        def cancel_all() -> str:
            """Cancel every trip."""
            called.append(("cancel_all", ""))
            return "Cancelled."

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        def whoami() -> str:
            """Whose token came."""
            token = get_access_token()
            return token.subject or "" if token else "nobody"

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        async def hang() -> str:
            """Never answers."""
            called.append(("hang", ""))
            try:
                await asyncio.sleep(120)
            except asyncio.CancelledError:
                self.cancelled.append("hang")
                raise
            return "late"

        @server.tool()
        async def pay(amount: str) -> str:
            """Pays, and says so when the test lets it."""
            called.append(("pay", amount))
            while not self.may_answer.is_set():
                await asyncio.sleep(0.05)
            return f"Paid {amount}."

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        async def look(city: str) -> str:
            """Looks, and says so when the test lets it."""
            called.append(("look", city))
            while not self.may_answer.is_set():
                await asyncio.sleep(0.05)
            return f"Seen {city}."

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        def huge() -> str:
            """Answers with five megabytes."""
            return "x" * HUGE

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        def long() -> str:
            """Answers with more than a model is told."""
            return "y" * 100_000

        app = server.streamable_http_app(stateless_http=not self._has_sessions, json_response=True)

        async def application(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                headers = dict(scope["headers"])
                self.seen_tokens.add(headers.get(b"authorization", b"").decode())
                if self.answers_as is not None:
                    await self.answers_as(scope, receive, send)
                    return
            await app(scope, receive, send)

        return application

    def _protection(self) -> dict[str, Any]:
        if self._signs_in is None:
            return {}
        auth = AuthSettings(
            issuer_url=AnyHttpUrl(self._signs_in.url),
            resource_server_url=AnyHttpUrl(self.url),
            required_scopes=["trips"],
            validate_token_resource=True,
        )
        return {"auth": auth, "token_verifier": self._signs_in.provider}


def answering(status: int, body: bytes, **headers: str) -> Asgi:
    """An application that says the same to everybody."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        named = [(name.replace("_", "-").encode(), text.encode()) for name, text in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": named})
        await send({"type": "http.response.body", "body": body})

    return application
