"""What the long-running commands share: stopping cleanly, and backing off while others are away."""

import random
import signal
import threading
from types import FrameType


class Stop:
    """Set by SIGTERM and SIGINT; `wait` sleeps and wakes early when it is time to go."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def listen(self) -> "Stop":
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        return self

    def set(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> None:
        self._event.wait(seconds)

    def __bool__(self) -> bool:
        return self._event.is_set()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.set()


class Backoff:
    """Waiting times that double from `first` to `last` seconds, half of each at random."""

    def __init__(self, *, first: float, last: float) -> None:
        self._first, self._last = first, last
        self._next = first

    def reset(self) -> None:
        self._next = self._first

    def next(self) -> float:
        seconds, self._next = self._next, min(self._next * 2, self._last)
        return seconds * random.uniform(0.5, 1.0)  # noqa: S311 -- spreads load, guards nothing
