"""An engine that is stopped before it is ready leaves no process and no error that nobody reads."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest

from inference.config import EngineConfig
from inference.engine.client import EngineClient

_CORE = "tests.inference.fake_core"


@pytest.fixture
async def unread() -> AsyncIterator[list[dict[str, Any]]]:
    """What the event loop is told of, because nobody took it."""
    found: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: found.append(context))
    yield found


def client_of(*command: str) -> EngineClient:
    return EngineClient(EngineConfig(model="none"), command)


async def core_of(module: str) -> psutil.Process:
    async with asyncio.timeout(30):
        while True:
            for child in psutil.Process().children():
                if module in " ".join(child.cmdline()):
                    return child
            await asyncio.sleep(0.01)


async def test_core_that_does_not_listen_yet_is_ended_at_once(unread):
    client = client_of(sys.executable, "-c", f"import time; time.sleep(600)  # {_CORE}")
    client.begin()
    core = await core_of(_CORE)
    async with asyncio.timeout(8):  # less than a core that listens is given
        await client.stop()
    assert not core.is_running()
    gc.collect()
    assert unread == []


async def test_core_that_failed_and_was_not_waited_for_is_no_error_of_the_loop(unread):
    client = client_of(sys.executable, "-c", "raise SystemExit(3)")
    client.begin()
    async with asyncio.timeout(30):
        assert client._keeping is not None
        await client._keeping
    await client.stop()
    del client
    gc.collect()
    assert unread == []
