"""Whether a replica is much slower than its peers: a device that throttles, a neighbour that takes
its processor, a network that loses packets. It answers its probes and fails nothing.

Measured is what a reader sees: seconds a token once an answer has begun, so that neither a queue
nor a long prompt counts. Compared is with the other replicas of the pool as this process sees them:
what slows all of them, this process too, makes none of them slow. Source: outlier detection by
success rate in Envoy, here with the pace of tokens in place of failures.
"""

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable

MEASURED_TOKENS = 8
"""An answer's pace is known after so many tokens."""
MIN_SLOW_S = 0.2
"""A token in less is quick enough for any reader, however quick the others are."""
TIMES_MEDIAN = 5.0
_ANSWERS = 20
"""So many are looked at, if they are no older than _WINDOW_S."""
_WINDOW_S = 60.0


class TokenPace:
    """What answers of one replica took for a token, lately."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: deque[tuple[float, float]] = deque(maxlen=_ANSWERS)

    def note(self, token_s: float) -> None:
        self._answers.append((self._clock(), token_s))

    @property
    def median_s(self) -> float | None:
        """None where it has answered nothing lately."""
        now = self._clock()
        recent = [token_s for at, token_s in self._answers if now - at <= _WINDOW_S]
        return statistics.median(recent) if recent else None


class AnswerPace:
    """The pace of one answer, from its first token on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = 0.0
        self._first = 0

    def token_s(self, tokens: int) -> float | None:
        """Seconds a token, once it is known; None before.

        Args:
            tokens: of the answer so far; it has some.
        """
        if not self._began:
            self._began, self._first = self._clock(), tokens
            return None
        seen = tokens - self._first
        return (self._clock() - self._began) / seen if seen >= MEASURED_TOKENS else None


def is_slow(token_s: float, others: Iterable[TokenPace]) -> bool:
    """Whether an answer at such a pace is much slower than what the others give."""
    medians = [median for one in others if (median := one.median_s) is not None]
    if not medians or token_s < MIN_SLOW_S:
        return False
    return token_s > TIMES_MEDIAN * statistics.median(medians)
