"""From SIGTERM on an engine says that it takes nothing new, while it finishes what runs. Where the
application cannot be made, the core that was started for it ends too."""

import signal
import sys
from collections.abc import AsyncIterator
from types import SimpleNamespace

import psutil
import pytest
import uvicorn
from starlette.applications import Starlette

from inference.config import EngineConfig
from inference.engine.client import EngineClient
from inference.server.run import EngineServer

_CORE = "tests.inference.fake_core"


@pytest.fixture
async def client() -> AsyncIterator[EngineClient]:
    client = EngineClient(EngineConfig(model="none"), (sys.executable, "-m", _CORE, "wait"))
    yield client
    await client.stop()


def make_server(client: EngineClient) -> tuple[EngineServer, Starlette]:
    server = EngineServer(uvicorn.Config(Starlette(), log_level="warning"), client)
    server.app = Starlette()
    return server, server.app


async def test_signal_to_end_makes_the_server_drain(client: EngineClient) -> None:
    server, app = make_server(client)
    app.state.server = SimpleNamespace(draining=False)
    server.handle_exit(signal.SIGTERM, None)
    assert app.state.server.draining
    assert server.should_exit


async def test_signal_before_the_start_ends_the_server(client: EngineClient) -> None:
    server, _ = make_server(client)
    server.handle_exit(signal.SIGTERM, None)
    assert server.should_exit


async def test_core_ends_where_the_application_cannot_be_made(client: EngineClient) -> None:
    started: list[psutil.Process] = []

    def application() -> Starlette:
        started.extend(each for each in psutil.Process().children() if _CORE in each.cmdline())
        raise ImportError("a library is missing")

    config = uvicorn.Config(application, factory=True, log_level="warning")
    with pytest.raises(ImportError, match="a library is missing"):
        await EngineServer(config, client).serve()
    [core] = started
    assert not core.is_running()
