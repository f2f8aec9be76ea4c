"""Synchronous services from async routes, without holding a connection longer than they run.

Under ASGI every request has a thread of its own for database work, and Django gives its
connection back to the pool only when the request ends. A stream may end minutes later, so ten
streams would hold the whole pool. Here a connection goes back as soon as a call is done.
"""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def call(
    service: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Run a service or selector in the request's thread; one hop, connection returned."""

    def run() -> Result:
        try:
            return service(*args, **kwargs)
        finally:
            close_old_connections()

    return await sync_to_async(run)()


async def release() -> None:
    """Give back the connection that an async ORM call may have opened for this request.

    To be awaited before waiting for a generation.
    """
    await sync_to_async(close_old_connections)()
