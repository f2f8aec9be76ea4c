"""From SIGTERM on an engine says that it takes nothing new, while it finishes what runs."""

import signal
from types import SimpleNamespace
from typing import Any

import uvicorn
from starlette.applications import Starlette

from inference.server.run import DrainingServer


def _server(**state: Any) -> tuple[DrainingServer, Starlette]:
    app = Starlette()
    for name, value in state.items():
        setattr(app.state, name, value)
    return DrainingServer(uvicorn.Config(app, log_level="warning"), app), app


def test_signal_to_end_makes_the_server_drain() -> None:
    server, app = _server(server=SimpleNamespace(draining=False))
    server.handle_exit(signal.SIGTERM, None)
    assert app.state.server.draining
    assert server.should_exit


def test_signal_before_the_start_ends_the_server() -> None:
    server, _ = _server()
    server.handle_exit(signal.SIGTERM, None)
    assert server.should_exit
