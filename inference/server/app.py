"""The Starlette application: routes, request ids, start and end."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from inference.config import EngineConfig, ServerConfig
from inference.engine.client import EngineClient
from inference.engine.settled_memory import settle_memory
from inference.errors import InferenceError
from inference.images.registry import load_processor
from inference.server.access import RequireKey
from inference.server.adapters import Adapters, load_adapter, unload_adapter
from inference.server.chat import chat_completions
from inference.server.completions import completions
from inference.server.embeddings import embeddings
from inference.server.gpus import find_gpus
from inference.server.http import (
    ClientGoneError,
    error_object,
    error_response,
    gone_response,
    json_response,
)
from inference.server.metrics import Metrics
from inference.server.registration import Registration
from inference.server.rerank import rerank
from inference.server.state import ServerState
from inference.server.tokens import detokenize, tokenize
from inference.server.tracing import traceparent, tracing_end
from inference.server.usage import usage_of
from inference.text.generation_config import load_chat_defaults
from inference.text.load import load_text

_REQUEST_ID = re.compile(r"[\x21-\x7e]{1,128}")


def create_app(engine: EngineConfig, server: ServerConfig, client: EngineClient) -> Starlette:
    """The application; its lifespan waits for the model, and ends the engine core."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        metrics = Metrics(server.served_model_name, find_gpus(engine.device))
        client.on_step = metrics.on_step
        # The core loads its model while this process reads the vocabulary.
        starting = asyncio.create_task(client.start())
        announcing: asyncio.Task[None] | None = None
        state: ServerState | None = None
        try:
            # In this thread, which has nothing else to do yet: the heap of another one is left
            # with holes, 18 MB of them after a vocabulary of 150,000 tokens.
            state = _state(engine, server, client, metrics)
            app.state.server = state
            await starting
            metrics.on_ready(state.model_info)
            for name, folder in server.lora_modules:
                await state.adapters.load(name, folder)
            if server.registration is not None:
                registration = Registration(server.registration, engine, state, server.api_key)
                announcing = asyncio.create_task(registration.run())
            yield
        finally:
            if announcing is not None:
                announcing.cancel()
                with suppress(asyncio.CancelledError):
                    await announcing
            starting.cancel()
            await asyncio.gather(starting, return_exceptions=True)
            await client.stop()
            await asyncio.to_thread(tracing_end)
            if state is not None:
                state.close()

    app = Starlette(
        routes=[
            Route("/v1/chat/completions", chat_completions, methods=["POST"]),
            Route("/v1/completions", completions, methods=["POST"]),
            Route("/v1/embeddings", embeddings, methods=["POST"]),
            Route("/v1/rerank", rerank, methods=["POST"]),
            Route("/v1/models", models),
            Route("/v1/load_lora_adapter", load_adapter, methods=["POST"]),
            Route("/v1/unload_lora_adapter", unload_adapter, methods=["POST"]),
            Route("/tokenize", tokenize, methods=["POST"]),
            Route("/detokenize", detokenize, methods=["POST"]),
            Route("/usage/{key}", usage_of),
            Route("/health", health),
            Route("/ready", ready),
            Route("/metrics", metrics_text),
            Route("/drain", drain, methods=["POST"]),
        ],
        exception_handlers={InferenceError: error_response, ClientGoneError: gone_response},
        lifespan=lifespan,
    )
    app.add_middleware(RequireKey, key=server.api_key)
    app.add_middleware(RequestIds)
    return app


def _state(
    engine: EngineConfig, server: ServerConfig, client: EngineClient, metrics: Metrics
) -> ServerState:
    """What the server itself reads of the model's files: some tenths of a second to seconds.

    Raises:
        ModelLoadError: when there is no tokenizer that we know, or a file is damaged.
    """
    tokenizer, template = load_text(engine.model, server.chat_template)
    chat_defaults = load_chat_defaults(engine.model)
    settle_memory()  # of the file's texts the tokenizer has its own
    return ServerState(
        config=server,
        max_num_seqs=engine.scheduler.max_num_seqs,
        tokenizer=tokenizer,
        template=template,
        engine=client,
        adapters=Adapters(client, server.served_model_name, engine.max_loras),
        metrics=metrics,
        started_at=int(time.time()),
        chat_defaults=chat_defaults,
        images=load_processor(engine.model),
    )


class RequestIds:
    """Gives every request a unique id for the engine, and passes X-Request-Id through."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            unique_id = uuid.uuid4().hex
            given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
            request_id = given if _REQUEST_ID.fullmatch(given) else unique_id
            scope.setdefault("state", {})
            scope["state"]["unique_id"] = unique_id
            scope["state"]["headers"] = {"X-Request-Id": request_id}
            traceparent.set(dict(scope["headers"]).get(b"traceparent", b"").decode("latin-1"))
        await self._app(scope, receive, send)


async def models(request: Request) -> Response:
    state: ServerState = request.app.state.server
    base = {
        "id": state.config.served_model_name,
        "object": "model",
        "created": state.started_at,
        "owned_by": "parley",
        "max_model_len": state.model_info.max_model_len,
    }
    adapted = [
        {
            **base,
            "id": state.adapters.model_name(name),
            "created": state.adapters.created(name),
            "parent": base["id"],
        }
        for name in state.adapters.names
    ]
    return json_response(
        {"object": "list", "data": [base, *adapted]}, headers=request.state.headers
    )


async def health(request: Request) -> Response:
    """200 while server and engine core live."""
    state: ServerState = request.app.state.server
    return json_response(
        {"status": "ok"} if state.engine.is_alive else {"status": "engine down"},
        200 if state.engine.is_alive else 503,
    )


async def ready(request: Request) -> Response:
    """200 while it takes work, also while its queue is full."""
    state: ServerState = request.app.state.server
    try:
        state.check_ready()
    except InferenceError as error:
        return json_response(error_object(error), 503)
    return json_response({"status": "ready"})


async def metrics_text(request: Request) -> Response:
    state: ServerState = request.app.state.server
    # Not here: what GPUs tell takes them some time.
    text = await asyncio.to_thread(state.metrics.render)
    return Response(text, media_type="text/plain; version=0.0.4")


async def drain(request: Request) -> Response:
    """Refuse new work from now on; what runs is finished."""
    state: ServerState = request.app.state.server
    state.draining = True
    return json_response({"draining": True, "in_flight": state.engine.in_flight})
