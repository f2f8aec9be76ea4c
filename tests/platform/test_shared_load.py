"""Loads that are wanted at the same time are one, and nobody pays for who has left or changed."""

import asyncio

import pytest

from backend.platform.shared_load import SharedLoads


class Source:
    """What is loaded: it counts, and answers when it is let."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = asyncio.Event()

    async def load(self) -> int:
        self.asked += 1
        number = self.asked
        await self.may_answer.wait()
        return number


async def _begun(*tasks: "asyncio.Task[int]") -> None:
    for _ in range(3 * len(tasks)):
        await asyncio.sleep(0)


async def test_callers_at_the_same_time_share_a_load_and_a_later_one_loads_anew() -> None:
    source, loads = Source(), SharedLoads[str, int]()
    callers = [asyncio.create_task(loads.get("one", source.load)) for _ in range(16)]
    other = asyncio.create_task(loads.get("two", source.load))
    await _begun(*callers, other)
    assert source.asked == 2
    source.may_answer.set()
    assert await asyncio.gather(*callers) == [1] * 16
    assert await other == 2
    assert await loads.get("one", source.load) == 3


async def test_caller_after_a_change_does_not_get_what_was_read_before() -> None:
    source, loads = Source(), SharedLoads[str, int]()
    before = asyncio.create_task(loads.get("one", source.load))
    await _begun(before)
    loads.forget("one")
    after = [asyncio.create_task(loads.get("one", source.load)) for _ in range(2)]
    await _begun(*after)
    source.may_answer.set()
    assert await before == 1
    assert await asyncio.gather(*after) == [2, 2]


async def test_cancelled_caller_leaves_the_load_to_the_others() -> None:
    source, loads = Source(), SharedLoads[str, int]()
    first, second = (asyncio.create_task(loads.get("one", source.load)) for _ in range(2))
    await _begun(first, second)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    source.may_answer.set()
    assert await second == 1


async def test_error_reaches_everybody_and_is_not_kept() -> None:
    loads, broken = SharedLoads[str, int](), asyncio.Event()

    async def fail() -> int:
        await broken.wait()
        raise OSError("the database is away")

    callers = [asyncio.create_task(loads.get("one", fail)) for _ in range(2)]
    await _begun(*callers)
    broken.set()
    found = await asyncio.gather(*callers, return_exceptions=True)
    assert [type(error) for error in found] == [OSError, OSError]

    async def work() -> int:
        return 7

    assert await loads.get("one", work) == 7
