"""Threads for work that takes much memory or time: few at once, and few that wait for them.

A semaphore in front of shared threads would not hold: a caller who leaves gives it back while the
thread goes on. Here the threads are the bound, so it holds whoever leaves, and work whose caller
left before it began is dropped.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import close_old_connections

from backend.platform.errors import Overloaded

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class BoundedThreads:
    """Runs at most `at_once` calls in this process; at most `waiting` more queue for them."""

    def __init__(self, name: str, *, at_once: int, waiting: int) -> None:
        self.name = name
        self._limit = at_once + waiting
        self._executor = ThreadPoolExecutor(at_once, thread_name_prefix=name)
        self._pending = 0
        self._lock = threading.Lock()

    async def run(
        self,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """`function`'s result; it may use the database.

        Raises:
            Overloaded: as many wait as may. Nothing was begun.
        """

        def call() -> Result:
            try:
                return function(*args, **kwargs)
            finally:
                close_old_connections()

        with self._lock:
            if self._pending >= self._limit:
                raise Overloaded(
                    "Too much of this is being done already. Try again.", retry_after=2
                )
            self._pending += 1
        context = contextvars.copy_context()
        future = self._executor.submit(partial(context.run, call))
        future.add_done_callback(self._done)
        return await asyncio.wrap_future(future)

    def _done(self, _: Future[Any]) -> None:
        with self._lock:
            self._pending -= 1


# Whatever decodes an image of somebody else's: uploads, moderations, the images of prompts. One may
# take 270 MB (40 megapixels of a progressive JPEG, measured) and a second.
IMAGE_THREADS = BoundedThreads("images", at_once=1, waiting=50)

# Each waits for a process that reads one document, with a gigabyte and thirty seconds at most.
DOCUMENT_THREADS = BoundedThreads("documents", at_once=2, waiting=20)
