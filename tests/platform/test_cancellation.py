"""Waiting for what is done first, and work that a cancellation does not cut in half."""

import asyncio
from typing import Any

import pytest

from backend.platform.cancellation import first_done, uninterrupted


def future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


async def test_first_that_is_done_ends_the_wait_and_no_other() -> None:
    one, other = future(), future()
    asyncio.get_running_loop().call_soon(other.set_exception, ValueError("its own affair"))
    await asyncio.wait_for(first_done(one, other), 5)
    assert not one.done()
    assert isinstance(other.exception(), ValueError)


async def test_done_future_ends_the_wait_at_once() -> None:
    done = future()
    done.set_result(None)
    await asyncio.wait_for(first_done(future(), done), 5)


async def test_time_that_is_over_ends_the_wait() -> None:
    waited_for = future()
    await asyncio.wait_for(first_done(waited_for, timeout_s=0.01), 5)
    assert not waited_for.done()


async def test_caller_that_leaves_cancels_nothing() -> None:
    waited_for = future()
    waiting = asyncio.create_task(first_done(waited_for))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not waited_for.cancelled()


async def test_work_goes_to_its_end_however_often_its_caller_is_cancelled() -> None:
    began, may_end = asyncio.Event(), asyncio.Event()
    ended = []

    async def work() -> None:
        began.set()
        await may_end.wait()
        ended.append(True)

    caller = asyncio.create_task(uninterrupted(work))
    await began.wait()
    for _ in range(2):
        caller.cancel()
        await asyncio.sleep(0)
        assert not caller.done()
    may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended == [True]
