"""Replicas that share cores: each gets its part, and what they do to each other is added."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest

from infra.simulator import virtual_time
from infra.simulator.exact import PoolSpec, simulate
from infra.simulator.host import Host
from infra.simulator.outcomes import summarized
from infra.simulator.step_times import StepTimes
from infra.simulator.trace import Traffic, requests_of, trace

CONVERSATIONS = trace(Traffic(conversations=40, per_s=40.0, scale=0.1, pause_s=0.1), 3)
TIMES = StepTimes(
    model="m",
    hardware="h",
    source="s",
    gpus=1,
    batches=(1, 8),
    base_s=(0.010, 0.020),
    empty_s=0.010,
    context_s=0.0,
    prompt_s=1e-3,
    kv_tokens=32_000,
    cores=2,
)


def ends(host: Host, jobs: Sequence[tuple[float, float, float]]) -> list[float]:
    """When jobs are done: each begins at some time, takes so long alone, is so far of prompts."""

    async def one(begin_s: float, seconds: float, prompts: float) -> float:
        await asyncio.sleep(begin_s)
        await host.compute(seconds, prompts)
        return virtual_time.now()

    async def everyone() -> list[float]:
        return list(await asyncio.gather(*(one(*job) for job in jobs)))

    return virtual_time.run(everyone())


def test_as_many_as_there_are_cores_compute_as_alone() -> None:
    assert ends(Host(2), [(0, 1, 0), (0, 3, 0)]) == pytest.approx([1, 3])


def test_more_than_cores_get_equal_parts() -> None:
    assert ends(Host(2), [(0, 1, 0)] * 4) == pytest.approx([2] * 4)


def test_work_that_is_left_speeds_up() -> None:
    """Three on two cores at 2/3 until the short one is done, then a core each."""
    assert ends(Host(2), [(0, 2, 0), (0, 2, 0), (0, 1, 0)]) == pytest.approx([2.5, 2.5, 1.5])


def test_later_work_slows_what_runs() -> None:
    """Alone for a second, half a core for two, alone again."""
    assert ends(Host(1), [(0, 3, 0), (1, 1, 0)]) == pytest.approx([4, 3])


def test_prompts_and_decode_steps_contend_differently() -> None:
    host = Host(2, prompts=(1.0, 1.5), decodes=(1.0, 1.2))
    assert ends(host, [(0, 1, 1)]) == pytest.approx([1])
    assert ends(host, [(0, 1, 1)] * 2) == pytest.approx([1.5] * 2)
    assert ends(host, [(0, 1, 0)] * 2) == pytest.approx([1.2] * 2)
    assert ends(host, [(0, 1, 0.5)] * 2) == pytest.approx([1.35] * 2)
    assert ends(host, [(0, 1, 0)] * 4) == pytest.approx([2.4] * 4), "the last factor holds beyond"


def test_other_programs_reduce_the_cores_that_are_shared() -> None:
    assert ends(Host(1.5), [(0, 1, 0)] * 3) == pytest.approx([2] * 3)


def test_work_that_is_cancelled_is_off_the_cores() -> None:
    async def two() -> float:
        host = Host(1)
        stopped = asyncio.create_task(host.compute(10))
        asyncio.get_running_loop().call_later(1, stopped.cancel)
        await host.compute(2)
        return virtual_time.now()

    assert virtual_time.run(two()) == pytest.approx(2.5)


def between_tokens(times: StepTimes, **changed: object) -> float:
    spec = PoolSpec(times, 4, announces=False)
    found = summarized(simulate(replace(spec, **changed), CONVERSATIONS, 3), 4)  # type: ignore[arg-type]
    assert found.completed == requests_of(CONVERSATIONS)
    return found.itl_mean_s


def test_four_replicas_of_a_busy_machine_take_twice_as_long() -> None:
    alone = between_tokens(TIMES)
    assert between_tokens(TIMES, shares_machine=True) == pytest.approx(2 * alone, rel=0.2)
    assert between_tokens(TIMES, shares_machine=True, others=1.0) > 3 * alone


def test_sending_tokens_takes_processor_time_from_replicas() -> None:
    without = between_tokens(TIMES, shares_machine=True)
    sending = msgspec.structs.replace(TIMES, token_s=0.003)
    assert between_tokens(sending, shares_machine=True) > 1.2 * without
    asking = between_tokens(TIMES, shares_machine=True, harness_s=0.1)
    assert asking > 1.01 * without
