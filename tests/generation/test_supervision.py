"""The loops beside the requests outlive an exception that they did not expect."""

import asyncio

import pytest
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from backend.generation.gateway import Gateway
from backend.generation.request import Event
from backend.generation.stream import keys
from backend.generation.supervision import supervised
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    TURN,
    Answer,
    caller,
    chat,
    pools_of,
    quick_settings,
    running_gateway,
    start,
)

TIMEOUT_S = 20.0


def _failures(loop: str) -> float:
    return REGISTRY.get_sample_value("parley_loop_failures_total", {"loop": loop}) or 0.0


async def test_loop_goes_on_after_unexpected_exception() -> None:
    rounds = 0

    async def body() -> None:
        nonlocal rounds
        rounds += 1
        if rounds < 3:
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    with capture_logs() as logs:
        await asyncio.wait_for(supervised("tested", body), TIMEOUT_S)

    assert rounds == 3, "started again until it returned"
    assert _failures("tested") == 2
    assert [(e["event"], e["log_level"], e["loop"]) for e in logs] == [
        ("loop_failed", "error", "tested")
    ] * 2


async def test_loop_goes_on_when_what_it_awaits_is_cancelled() -> None:
    """The loop's own task was not: such a cancellation would end it without a word."""
    rounds = 0

    async def body() -> None:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            inner = asyncio.get_running_loop().create_future()
            inner.cancel()
            await inner

    await asyncio.wait_for(supervised("leaky", body), TIMEOUT_S)

    assert rounds == 2
    assert _failures("leaky") == 1


async def test_cancelled_loop_ends() -> None:
    async def body() -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(supervised("cancelled", body))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, TIMEOUT_S)

    assert _failures("cancelled") == 0


async def test_follower_delivers_after_control_message_it_cannot_decode(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """One of another version of the program, say."""
    principal = await caller()
    pools = pools_of(upstream)
    failed_before = _failures("follower")
    async with running_gateway(pools) as elsewhere, running_gateway(pools):
        control = keys.control(elsewhere.id, keys.shards()[0])
        await elsewhere.redis.xadd(control, {"op": "cancel", "id": "not an id"})
        started = await start(chat(principal, max_tokens=20, turn=TURN))
        assert started.id not in elsewhere.active
        events: list[Event] = []
        async with asyncio.timeout(TIMEOUT_S):
            async for batch in elsewhere.reader.events(started.id, after=0):
                events += batch

    answer = Answer(events)
    answer.check_order()
    assert answer.text == words(0, 20)
    assert _failures("follower") == failed_before + 1


async def test_loops_end_with_a_gateway_whose_drain_is_cut_short(transactional_db: None) -> None:
    """A loop that is left is cancelled once by whoever ends the event loop, and a place that
    swallows it then makes the process wait for ever."""
    gateway = Gateway(quick_settings(), pools_of())
    await gateway.start()
    gateway.begin_drain = lambda wait_s=None: asyncio.create_task(_fails())  # type: ignore[method-assign]
    with pytest.raises(OSError, match="cut short"):
        await gateway.stop()
    assert gateway._tasks
    assert all(task.done() for task in gateway._tasks)


async def _fails() -> None:
    raise OSError("cut short")
