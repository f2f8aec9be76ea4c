"""JSON out: one encoder for answers, stream events and WebSocket messages."""

from decimal import Decimal
from typing import Any

import orjson
from pydantic import BaseModel


def encode_json(value: Any) -> bytes:
    """Compact UTF-8 JSON. Decimals become strings: money never passes through a float."""
    return orjson.dumps(value, default=_default, option=orjson.OPT_UTC_Z)


def _default(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, BaseModel):
        return value.model_dump()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
