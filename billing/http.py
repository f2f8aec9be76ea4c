"""What billing's routes share: their request, their schemas' base, and work in a thread.

The routers know nothing of `backend.api`, which mounts them and brings authentication, errors
and encoding.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, PlainSerializer

from backend.accounts.principal import Principal

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Money as a decimal text: a JSON number would be read back as a float.
Money = Annotated[Decimal, PlainSerializer(lambda value: format(value, "f"), return_type=str)]


class Request(HttpRequest):
    """What a route gets: for type checkers only."""

    auth: Principal


class Out(BaseModel):
    """An answer; may be made from any object with the same attributes."""

    model_config = ConfigDict(from_attributes=True)


class In(BaseModel):
    """A body; fields that do not exist are errors."""

    model_config = ConfigDict(extra="forbid")


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
