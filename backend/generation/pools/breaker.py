"""A circuit breaker for one replica: what answers its probes may still fail every generation.

Closed: it takes work. Open: it takes none, for a time that doubles with each trip. Half-open: one
generation tries it, and its end decides. Source: Nygard, "Release It!", 2nd ed., 2018, 5.2.
"""

import time
from collections import deque
from collections.abc import Callable

MIN_OPEN_S = 1.0
MAX_OPEN_S = 30.0
_OUTCOMES = 20
"""So many are looked at, if they are no older than _WINDOW_S; at least _MIN_OUTCOMES decide."""
_WINDOW_S = 30.0
_MIN_OUTCOMES = 4
_MAX_FAILURE_RATE = 0.5
_TRIAL_S = 30.0
"""After so long without an end, a trial (a client that left, say) gives its place to another."""


class Breaker:
    """Fed with the ends of generations; asked before one is sent."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._outcomes: deque[tuple[float, bool]] = deque(maxlen=_OUTCOMES)
        self._open_s = 0.0  # how long it opens or opened; 0 while it is closed
        self._opened_at = 0.0
        self._trial_at: float | None = None

    @property
    def state(self) -> str:
        """`closed`, `open` or `half-open`, for people."""
        if not self._open_s:
            return "closed"
        return "open" if self._clock() - self._opened_at < self._open_s else "half-open"

    def allows(self) -> bool:
        """Whether a generation may be sent now."""
        state = self.state
        if state == "half-open":
            trial = self._trial_at
            return trial is None or self._clock() - trial > _TRIAL_S
        return state == "closed"

    def sent(self) -> None:
        """A generation was sent: in the half-open state it is the trial."""
        if self._open_s:
            self._trial_at = self._clock()

    def succeeded(self) -> None:
        if self._open_s:
            self._open_s, self._trial_at = 0.0, None
            self._outcomes.clear()
        self._outcomes.append((self._clock(), True))

    def failed(self) -> None:
        now = self._clock()
        self._outcomes.append((now, False))
        if self._open_s:
            if self.state == "half-open":
                self._open(min(MAX_OPEN_S, 2 * self._open_s))
            return
        recent = [success for at, success in self._outcomes if now - at <= _WINDOW_S]
        failures = recent.count(False)
        if len(recent) >= _MIN_OUTCOMES and failures >= _MAX_FAILURE_RATE * len(recent):
            self._open(MIN_OPEN_S)

    def _open(self, seconds: float) -> None:
        self._open_s, self._opened_at, self._trial_at = seconds, self._clock(), None
