"""What billing's routes share: their request, and the base of their schemas.

The routers know nothing of `backend.api`, which mounts them and brings authentication, errors
and encoding.
"""

from decimal import Decimal
from typing import Annotated

from django.http import HttpRequest
from pydantic import BaseModel, ConfigDict, PlainSerializer

from backend.accounts.principal import Principal

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
