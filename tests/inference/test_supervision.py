"""The server outlives whatever its core process does: what waited fails, and a new core starts.

The core is `fake_core.py`: its script says how it behaves.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import torch

from inference.config import EngineConfig
from inference.core import SamplingParams
from inference.engine.client import EngineClient
from inference.engine.progress import MIN_STEP_S, StepProgress
from inference.errors import EngineDeadError
from inference.protocol import AddRequest, CoreStats, SequenceOutput
from inference.server.metrics import Metrics
from infra.services.ports import free_port
from tests.inference.fake_core import NO_STEP_YET
from tests.inference.tiny import make_tiny_model
from tests.support.forkserver import fork

MAX_WAIT_S = 80.0
"""A core is a Python process with its imports: seconds on a machine that has nothing else to do."""


@asynccontextmanager
async def client_of(
    script: str, on_step: Callable[[CoreStats], None] | None = None
) -> AsyncIterator[EngineClient]:
    command = (sys.executable, "-m", "tests.inference.fake_core", script)
    client = EngineClient(EngineConfig(model="none"), command, on_step or Metrics("fake").on_step)
    await client.start()
    try:
        yield client
    finally:
        await client.stop()


async def generate(client: EngineClient, name: str = "r1") -> list[SequenceOutput]:
    request = AddRequest(name, [1, 2], SamplingParams(max_tokens=4))
    return [output async for output in client.generate(request)]


async def second_core(client: EngineClient) -> None:
    async with asyncio.timeout(MAX_WAIT_S):
        while client.restarts < 1 or not client.is_alive:
            await asyncio.sleep(0.02)


def test_metrics_take_a_core_that_ended_before_its_first_step():
    metrics = Metrics("fake")
    metrics.on_step(NO_STEP_YET)
    metrics.on_step(CoreStats())
    metrics.on_step(CoreStats(steps=1, accepted_per_position=(2, 1, 0)))
    assert (
        metrics.registry.get_sample_value(
            "vllm:spec_decode_num_accepted_tokens_total", {"model_name": "fake"}
        )
        == 3
    )


async def test_request_fails_and_core_restarts_when_core_ends_before_its_first_step():
    async with client_of("report,take") as client:
        async with asyncio.timeout(MAX_WAIT_S):
            with pytest.raises(EngineDeadError, match="status 3"):
                await generate(client)
        await second_core(client)


async def test_request_fails_and_core_restarts_when_its_message_cannot_be_read():
    """Such a core is killed: what it computes would reach no one."""
    async with client_of("take,garbage,wait") as client:
        async with asyncio.timeout(MAX_WAIT_S):
            with pytest.raises(EngineDeadError, match="could not be handled"):
                await generate(client)
        await second_core(client)


@pytest.mark.parametrize(
    ("script", "reason"), [("take,freeze", "no sign of life"), ("take,hang", "one step for")]
)
async def test_core_that_stalls_is_killed_and_replaced(script, reason):
    async with client_of(script) as client:
        async with asyncio.timeout(MAX_WAIT_S):
            with pytest.raises(EngineDeadError, match=f"{reason}.*killed"):
                await generate(client)
        await second_core(client)


def test_long_prefill_is_no_hang():
    """A step may take what its tokens took before, and more; a short one may not."""
    now = 0.0
    progress = StepProgress(clock=lambda: now)

    def step(tokens: int, seconds: float) -> None:
        nonlocal now
        progress.begin(tokens)
        now += seconds
        progress.end()

    assert progress.beat().allowed_s > 60, "nothing is known yet"
    step(512, 2.0)
    progress.begin(4096)
    now += 100.0
    beat = progress.beat()
    assert beat.step_s == 100.0 < beat.allowed_s
    progress.end()
    step(1, 0.1)
    progress.begin(1)
    now += 1000.0
    beat = progress.beat()
    assert beat.step_s > beat.allowed_s == MIN_STEP_S


async def test_tokens_arrive_when_counting_them_fails():
    def broken(stats: CoreStats) -> None:
        raise ValueError("a metric that cannot be set")

    async with client_of("report,take,token,last,wait", broken) as client:
        async with asyncio.timeout(MAX_WAIT_S):
            outputs = await generate(client)
    assert [output.new_token_ids for output in outputs] == [[65], [65]]


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_server_says_why_its_core_cannot_start(tmp_path):
    """Whatever is wrong: here torch cannot have the device that was asked for."""
    model, said = make_tiny_model(tmp_path / "model"), tmp_path / "said.txt"
    command = ("python", "-m", "tests.inference.forked_engine", "serve", "--model", str(model))
    options = ("--device", "cuda", "--port", str(free_port()), "--no-api-key")
    with said.open("wb") as output:
        run = fork((*command, *options), environment=os.environ, output=output, kind="engine")
    assert run.wait() != 0
    assert re.search(r"(?im)^inference\.errors\.EngineDeadError: .*cuda", said.read_text())
