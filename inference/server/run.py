"""Runs the server until SIGTERM: it says at once that it drains, finishes what runs, and ends.

uvicorn closes the listening socket at the signal and then waits for open answers, for up to half a
minute. An engine that went on to announce itself as ready would be sent requests meanwhile, each of
which finds a closed port.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from inference.config import ServerConfig

_GRACE_S = 30
_EXIT_NOT_STARTED = 3


class DrainingServer(uvicorn.Server):
    """uvicorn's server, whose application drains from the signal on."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # The application has no state before it has started.
        if (state := getattr(self._app.state, "server", None)) is not None:
            state.draining = True
        super().handle_exit(sig, frame)


def run(app: Starlette, server: ServerConfig, *, tls_cert: str | None, tls_key: str | None) -> None:
    """Serve `app` until a signal ends it; ends the process where it could not start."""
    config = uvicorn.Config(
        app,
        host=server.host,
        port=server.port,
        log_level="warning",
        timeout_graceful_shutdown=_GRACE_S,
        ssl_certfile=tls_cert,
        ssl_keyfile=tls_key,
    )
    running = DrainingServer(config, app)
    with suppress(KeyboardInterrupt):  # which uvicorn raises again once it has ended
        running.run()
    if not running.started:
        sys.exit(_EXIT_NOT_STARTED)
