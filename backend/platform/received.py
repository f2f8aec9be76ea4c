"""When the request that is being served was received, and in which trace: noted at the door, read
below.

A context variable, because between the door and the gateway stand Django and every route.
"""

import time
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Received:
    """
    Attributes:
        at: `time.monotonic()` of its first byte.
        traceparent: the client's header as it came; "" for none.
    """

    at: float
    traceparent: str = ""


_received: ContextVar[Received | None] = ContextVar("parley_received", default=None)


def note_received(traceparent: str = "") -> None:
    """Note that a request has come in, for what this task and those that it starts do."""
    _received.set(Received(time.monotonic(), traceparent))


def received() -> Received:
    """The request that is being served; outside of one, now."""
    return _received.get() or Received(time.monotonic())
