"""What `Retry-After` says: longer the longer nothing works, and not the same to all.

Clients that were refused in one second would come back in one second. Each is told a time of its
own, within a quarter of the right one. Source: "Exponential backoff and jitter", AWS Architecture
Blog, 2015.
"""

import random
import time
from collections.abc import Callable

_MAX_S = 60.0
_MIN_S = 2.0
_JITTER = 0.25


def spread(seconds: float) -> float:
    """A time for one client, in seconds, within a quarter of `seconds` and at least 1."""
    factor = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
    return max(1.0, min(_MAX_S, seconds * factor))


class Outage:
    """Since when a pool has had no replica that takes work."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None

    def is_over(self) -> None:
        self._since = None

    def retry_after(self) -> float:
        """As long as it has lasted so far: clients that come back as told come at growing
        intervals. The first call begins it."""
        now = self._clock()
        if self._since is None:
            self._since = now
        return spread(max(_MIN_S, now - self._since))
