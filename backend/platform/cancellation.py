"""Work that a cancellation must not cut in half, and tasks that one cancellation may not end."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def uninterrupted(
    work: Callable[Arguments, Coroutine[Any, Any, Result]],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Run `work` to its end in a task of its own, also when the caller is cancelled meanwhile.

    For what takes something elsewhere, such as a place in Redis: cut off while the reply is
    awaited, it may have been taken without anybody knowing that it must be given back.

    Raises:
        CancelledError: the caller was cancelled; `work` has ended, well or not, by then.
    """
    task = asyncio.create_task(work(*args, **kwargs))
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await first_done(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # seen: the cancellation is what the caller hears of
        raise cancelled
    return task.result()


async def first_done(*futures: asyncio.Future[Any], timeout_s: float | None = None) -> None:
    """Return when one of `futures` is done, or the time is over; none is cancelled or read.

    `asyncio.wait` calls a dozen functions for that; here it is a callback on each.
    """
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = None if timeout_s is None else loop.call_later(timeout_s, wake)
    for future in futures:
        future.add_done_callback(wake)
    try:
        await waiter
    finally:
        for future in futures:
            future.remove_done_callback(wake)
        if timer is not None:
            timer.cancel()


async def end_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel `tasks` until they are done: asgiref and redis-py each have a place where a
    cancellation is swallowed.

    Raises:
        CancelledError: the caller was cancelled; the tasks are done by then.
    """
    pending = {task for task in tasks if not task.done()}
    cancelled: asyncio.CancelledError | None = None
    while pending:
        for task in pending:
            task.cancel()
        try:
            await asyncio.wait(pending, timeout=0.2)
        except asyncio.CancelledError as error:
            cancelled = error
        pending = {task for task in pending if not task.done()}
    if cancelled is not None:
        raise cancelled
