"""Synchronous transactions from the event loop: few threads of our own, one hop each.

Not asgiref's `sync_to_async`: its thread-sensitive executor is one thread, which a thousand
ending generations would queue for, and it swallows a cancellation that comes while the thread
works, so that a loop which is told to end goes on. Here the caller is cancelled at once; the
thread finishes what it began. A connection goes back to the pool after each call.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Half of the pool, so that requests which only read are not kept waiting by generations.
_OPTIONS: Any = settings.DATABASES["default"]["OPTIONS"]
_THREADS = max(2, int(_OPTIONS["pool"]["max_size"]) // 2)
_EXECUTOR = ThreadPoolExecutor(_THREADS, thread_name_prefix="gateway-database")


async def in_database(
    function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Run `function` in a thread with a database connection."""

    def run() -> Result:
        try:
            return function(*args, **kwargs)
        finally:
            close_old_connections()

    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_EXECUTOR, partial(context.run, run))
