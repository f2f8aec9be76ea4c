"""Final token counts of requests that ended recently, for a caller that died before it read them.

A caller that may want to ask sends `X-Usage-Key` with its request; several requests may share one
(choices, or a continuation after a failure). Kept in memory for some minutes: an engine that
restarts has forgotten, and says so with 404.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

TTL_S = 900.0
MAX_KEYS = 10_000
MAX_REQUESTS = 50_000
MAX_REQUESTS_PER_KEY = 256
"""An answer has one for each choice and for each continuation: some ten."""


@dataclass
class _Ended:
    """The requests of one key, in the order in which they ended."""

    last_at: float = 0.0
    requests: deque[dict[str, Any]] = field(default_factory=deque)


@dataclass
class RecentUsage:
    """What ended requests have used, by the key that their callers chose.

    Invariant: at most `max_keys` keys and `max_requests` requests of all keys together; the keys
    that were quiet longest are forgotten first. A key keeps its last `max_requests_per_key`.
    """

    max_keys: int = MAX_KEYS
    max_requests: int = MAX_REQUESTS
    max_requests_per_key: int = MAX_REQUESTS_PER_KEY
    ttl_s: float = TTL_S
    clock: Callable[[], float] = time.monotonic
    _by_key: OrderedDict[str, _Ended] = field(default_factory=OrderedDict)
    _num_requests: int = 0

    def add(self, key: str, ended: dict[str, Any]) -> None:
        """Remember one request that has ended."""
        held = self._by_key.setdefault(key, _Ended())
        self._by_key.move_to_end(key)
        held.last_at = self.clock()
        held.requests.append(ended)
        self._num_requests += 1
        if len(held.requests) > self.max_requests_per_key:
            held.requests.popleft()
            self._num_requests -= 1
        self._forget()

    def find(self, key: str) -> list[dict[str, Any]] | None:
        """The requests under `key`, in the order in which they ended; None: none is known."""
        self._forget()
        found = self._by_key.get(key)
        return None if found is None else list(found.requests)

    def _forget(self) -> None:
        oldest_kept = self.clock() - self.ttl_s
        while self._by_key:
            quietest = next(iter(self._by_key.values()))
            fits = len(self._by_key) <= self.max_keys and self._num_requests <= self.max_requests
            if fits and quietest.last_at >= oldest_kept:
                return
            self._by_key.popitem(last=False)
            self._num_requests -= len(quietest.requests)
