"""Threads for work that takes much memory or time: few at once, and few that wait for them.

A semaphore in front of shared threads would not hold: a caller who leaves gives it back while the
thread goes on. Here the threads are the bound, so it holds whoever leaves, and work whose caller
left before it began is dropped.
"""

import asyncio
import contextvars
import threading
from collections import Counter, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeVar

from django.db import close_old_connections

from backend.platform.errors import Overloaded

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class BoundedThreads:
    """Runs at most `at_once` calls in this process; at most `waiting` more queue for them.

    Owners (users, say) take turns: a call of one who has many waits behind their own, and those of
    one owner take at most half of the queue.
    """

    def __init__(self, name: str, *, at_once: int, waiting: int) -> None:
        self.name = name
        self._limit = at_once + waiting
        self._owner_limit = at_once + waiting // 2
        self._executor = ThreadPoolExecutor(at_once, thread_name_prefix=name)
        self._pending: Counter[Hashable] = Counter()
        # By owner, who is next first.
        self._queues: dict[Hashable, deque[_Call]] = {}
        self._lock = threading.Lock()

    async def run(
        self,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """As `run_for`, of nobody in particular."""
        return await self.run_for(None, function, *args, **kwargs)

    async def run_for(
        self,
        owner: Hashable,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """`function`'s result; it may use the database.

        Raises:
            Overloaded: as many wait as may. Nothing was begun.
        """
        future: Future[Result] = Future()
        future.add_done_callback(partial(self._done, owner))
        work = partial(contextvars.copy_context().run, partial(function, *args, **kwargs))
        limit = self._limit if owner is None else self._owner_limit
        with self._lock:
            if self._pending.total() >= self._limit or self._pending[owner] >= limit:
                raise Overloaded(
                    "Too much of this is being done already. Try again.", retry_after=2
                )
            self._pending[owner] += 1
            self._queues.setdefault(owner, deque()).append(_Call(future, work))
        self._executor.submit(self._work)
        return await asyncio.wrap_future(future)

    def _work(self) -> None:
        """Make the next call. As many run as there are calls in the queues."""
        with self._lock:
            owner = next(iter(self._queues))
            queue = self._queues.pop(owner)
            call = queue.popleft()
            if queue:
                self._queues[owner] = queue  # behind the others
        if not call.future.set_running_or_notify_cancel():
            return
        try:
            result = call.work()
        except BaseException as error:
            close_old_connections()
            call.future.set_exception(error)
        else:
            close_old_connections()
            call.future.set_result(result)

    def _done(self, owner: Hashable, _: Future[Any]) -> None:
        with self._lock:
            self._pending[owner] -= 1
            if not self._pending[owner]:
                del self._pending[owner]


class _Call(NamedTuple):
    future: Future[Any]
    work: Callable[[], Any]


# Whatever decodes an image of somebody else's: uploads, moderations, the images of prompts. One may
# take 270 MB (40 megapixels of a progressive JPEG, measured) and a second.
IMAGE_THREADS = BoundedThreads("images", at_once=1, waiting=50)

# Each waits for a process that reads one document, with a gigabyte and thirty seconds at most.
DOCUMENT_THREADS = BoundedThreads("documents", at_once=2, waiting=20)
