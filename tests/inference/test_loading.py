"""A core that freezes while it loads its model is replaced; one that is only slow is let live.

The cores are real ones, stopped by signals: so is whatever waits for a disk that gives nothing.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import psutil
import pytest

from inference.cli import CORE_COMMAND
from inference.config import EngineConfig
from inference.engine.client import EngineClient
from inference.errors import EngineDeadError
from tests.inference.tiny import make_tiny_model

MAX_SILENCE_S = 3.0


@pytest.fixture(scope="module")
def model(scratch: Path) -> Path:
    return make_tiny_model(scratch / "tiny-that-loads")


def client_of(model: Path) -> EngineClient:
    config = EngineConfig(model=str(model), num_threads=1, max_load_silence_s=MAX_SILENCE_S)
    return EngineClient(config, CORE_COMMAND, lambda stats: None)


async def core_of(client: EngineClient, *but: int) -> psutil.Process:
    """The client's core, as soon as there is one beside those of `but`."""
    while True:
        for child in psutil.Process().children():
            if child.pid not in but and _is_core(child):
                return child
        await asyncio.sleep(0.01)


def _is_core(process: psutil.Process) -> bool:
    try:
        return "inference.core_main" in process.cmdline()
    except psutil.Error:
        return False


async def test_core_that_freezes_in_its_first_load_ends_the_start_with_the_reason(model):
    client = client_of(model)
    starting = asyncio.create_task(client.start())
    async with asyncio.timeout(60):
        core = await core_of(client)
        core.send_signal(signal.SIGSTOP)
        with pytest.raises(EngineDeadError, match=r"froze while it loaded.*was killed"):
            await starting
    assert not core.is_running()
    await client.stop()


async def test_core_that_loads_slowly_is_let_live_and_one_that_freezes_later_is_replaced(model):
    """The first runs for a quarter of each second at most, which no limit of its own time would
    allow; the second has not loaded when it is stopped for good."""
    client = client_of(model)
    starting = asyncio.create_task(client.start())
    async with asyncio.timeout(170):
        first = await core_of(client)
        stops = 0
        while not starting.done():
            first.send_signal(signal.SIGSTOP)
            await asyncio.sleep(0.75)
            first.send_signal(signal.SIGCONT)
            await asyncio.sleep(0.25)
            stops += 1
        await starting
    assert stops > MAX_SILENCE_S / 0.75, "it was away for longer than it may be silent"
    assert client.restarts == 0
    async with asyncio.timeout(120):
        first.kill()
        second = await core_of(client, first.pid)
        second.send_signal(signal.SIGSTOP)
        while client.restarts < 2 or not client.is_alive:
            await asyncio.sleep(0.05)
    assert not second.is_running()
    await client.stop()
