"""Threads that few share: no user keeps the others from them."""

import asyncio
import threading

import pytest

from backend.platform.bounded_threads import BoundedThreads
from backend.platform.errors import Overloaded


async def test_user_with_many_calls_delays_another_by_one() -> None:
    threads = BoundedThreads("test", at_once=1, waiting=10)
    began, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def work(name: str) -> None:
        order.append(name)
        began.set()
        go_on.wait(10)

    calls = [asyncio.ensure_future(threads.run_for("a", work, "first"))]
    await asyncio.to_thread(began.wait, 10)
    calls += [asyncio.ensure_future(threads.run_for("a", work, f"a{n}")) for n in range(4)]
    await asyncio.sleep(0)
    calls += [asyncio.ensure_future(threads.run_for("b", work, f"b{n}")) for n in range(2)]
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(*calls)
    assert order == ["first", "a0", "b0", "a1", "b1", "a2", "a3"]


async def test_user_takes_half_of_the_queue_at_most() -> None:
    threads = BoundedThreads("test", at_once=1, waiting=4)
    go_on = threading.Event()
    calls = [asyncio.ensure_future(threads.run_for("a", go_on.wait, 10)) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await threads.run_for("a", go_on.wait, 10)
    calls += [asyncio.ensure_future(threads.run_for("b", go_on.wait, 10)) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Overloaded):
        await threads.run_for("c", go_on.wait, 10)
    go_on.set()
    assert await asyncio.gather(*calls) == [True] * 5
    assert await threads.run_for("a", go_on.wait, 10)


async def test_call_whose_caller_left_before_it_began_is_not_made() -> None:
    threads = BoundedThreads("test", at_once=1, waiting=4)
    go_on = threading.Event()
    made: list[str] = []
    first = asyncio.ensure_future(threads.run_for("a", go_on.wait, 10))
    left = asyncio.ensure_future(threads.run_for("a", made.append, "left"))
    last = asyncio.ensure_future(threads.run_for("a", made.append, "last"))
    await asyncio.sleep(0)
    left.cancel()
    await asyncio.sleep(0)
    go_on.set()
    await asyncio.gather(first, last)
    assert made == ["last"]


async def test_error_reaches_who_called() -> None:
    threads = BoundedThreads("test", at_once=1, waiting=1)
    with pytest.raises(ValueError, match="invalid literal"):
        await threads.run_for("a", int, "x")
