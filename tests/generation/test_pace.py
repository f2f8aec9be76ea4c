"""When streams take what has arrived."""

import asyncio
from functools import partial

from backend.generation.pools.pace import MAX_INTERVAL_S, MAX_WAKES_PER_S, Pace, interval_s


def test_few_streams_are_woken_for_every_chunk():
    assert interval_s(1, 30) == interval_s(30, 900) == 0.0


def test_many_streams_share_the_wakes_and_none_waits_longer_than_the_bound():
    assert interval_s(90, 2_700) == 90 / MAX_WAKES_PER_S
    assert interval_s(10_000, 300_000) == MAX_INTERVAL_S


async def test_streams_that_wait_are_woken_once_for_all_that_arrived():
    pace = Pace()
    woken: list[str] = []
    pace._interval_s = 0.05
    pace._last_tick = asyncio.get_running_loop().time()
    for name in "ab":
        pace.wake(partial(woken.append, name))
    assert woken == []
    await asyncio.sleep(0.2)
    assert woken == ["a", "b"]
    pace._interval_s = 0.0
    pace.wake(partial(woken.append, "c"))
    assert woken == ["a", "b", "c"]
