"""Runs the server until SIGTERM: it says at once that it drains, finishes what runs, and ends.

The core process is started first: what this one imports to serve, and the vocabulary that it reads,
take it as long as the core's own imports.

uvicorn closes the listening socket at the signal and then waits for open answers, for up to half a
minute. An engine that went on to announce itself as ready would be sent requests meanwhile, each of
which finds a closed port.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn

from inference.config import EngineConfig, ServerConfig
from inference.engine.client import EngineClient

if TYPE_CHECKING:
    from starlette.applications import Starlette

_GRACE_S = 30
_EXIT_NOT_STARTED = 3


class EngineServer(uvicorn.Server):
    """uvicorn's server, whose application drains from the signal on."""

    def __init__(self, config: uvicorn.Config, client: EngineClient) -> None:
        """`config` has a factory of the application, which is called when the core has begun."""
        super().__init__(config)
        self._client = client
        self.app: Starlette | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        self._client.begin()
        await asyncio.sleep(0)  # the process is started, before a thread wants the interpreter
        gc.disable()  # what is imported stays; `settle_memory` looks for garbage again
        try:
            await asyncio.to_thread(self.config.load)
        except BaseException:
            await self._client.stop()
            raise
        await super().serve(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The application has no state before it has started.
        if self.app is not None and (state := getattr(self.app.state, "server", None)) is not None:
            state.draining = True
        super().handle_exit(sig, frame)


def run(
    engine: EngineConfig,
    server: ServerConfig,
    core_command: Sequence[str],
    *,
    tls_cert: str | None,
    tls_key: str | None,
) -> None:
    """Serve the model until a signal ends it; ends the process where it could not start.

    Args:
        core_command: starts a core process.
    """
    client = EngineClient(engine, core_command)

    def application() -> Starlette:
        from inference.server.app import create_app  # half a second, beside the core's

        running.app = create_app(engine, server, client)
        return running.app

    config = uvicorn.Config(
        application,
        factory=True,
        host=server.host,
        port=server.port,
        log_level="warning",
        # httptools reads the body of a request that offers HTTP/2 as the next request.
        http="h11",
        ws="none",
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
    )
    running = EngineServer(config, client)
    with suppress(KeyboardInterrupt):  # which uvicorn raises again once it has ended
        running.run()
    if not running.started:
        sys.exit(_EXIT_NOT_STARTED)
