"""Reads an event stream over HTTP, as far as it comes, and tells what was on the wire."""

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx
import orjson


@dataclass
class Wire:
    """What one client saw: events by id, in the order in which they came.

    Attributes:
        broken: the connection ended without `[DONE]`.
        times: when each event came, by the monotonic clock.
    """

    events: list[tuple[int, bytes]] = field(default_factory=list)
    broken: bool = False
    times: list[float] = field(default_factory=list, compare=False)

    @property
    def last_id(self) -> int:
        return self.events[-1][0] if self.events else 0

    @property
    def done(self) -> bool:
        return bool(self.events) and self.events[-1][1] == b"[DONE]"

    @property
    def chunks(self) -> list[dict[str, Any]]:
        return [orjson.loads(data) for _, data in self.events if data != b"[DONE]"]

    @property
    def text(self) -> str:
        return "".join(
            part["delta"].get("content", "")
            for chunk in self.chunks
            for part in chunk.get("choices", ())
        )

    @property
    def error(self) -> dict[str, Any] | None:
        return next((chunk["error"] for chunk in self.chunks if "error" in chunk), None)

    @property
    def longest_pause_s(self) -> float:
        """Between two events."""
        return max((later - earlier for earlier, later in pairwise(self.times)), default=0.0)

    def check(self) -> None:
        """No event is missing or there twice; `[DONE]` is last."""
        assert [number for number, _ in self.events] == list(range(1, len(self.events) + 1))
        assert self.done


def read_stream(response: httpx.Response, wire: Wire, *, until: int | None = None) -> None:
    """Add the events of `response` to `wire`, to the end or until `until` events are there."""
    number = 0
    try:
        for line in response.iter_lines():
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("data: "):
                wire.events.append((number, line[6:].encode()))
                wire.times.append(time.monotonic())
                if until is not None and len(wire.events) >= until:
                    return
    except httpx.TransportError:
        pass
    wire.broken = not wire.done
