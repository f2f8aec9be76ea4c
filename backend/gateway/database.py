"""Synchronous transactions from the event loop: few threads of our own, one hop each.

Not Django's thread-sensitive executor: that is one thread, which a thousand ending generations
would queue for. A connection goes back to the pool after each call.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
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

    return await sync_to_async(run, thread_sensitive=False, executor=_EXECUTOR)()
