"""Work with the database from asynchronous code, without holding a connection while waiting."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def call(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Run a service or selector in a thread and give its connection back at once."""

    def run() -> Result:
        try:
            return work(*args, **kwargs)
        finally:
            close_old_connections()

    return await sync_to_async(run)()
