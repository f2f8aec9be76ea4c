"""Final token counts of requests that ended lately, for a caller that died before it read them.

A caller that may want to ask sends `X-Usage-Key` with its request; several requests may share one
(choices, or a continuation after a failure). Kept in memory for some minutes: an engine that
restarts has forgotten, and says so with 404.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

KEPT_S = 900.0
MOST_KEYS = 10_000


@dataclass
class RecentUsage:
    """What ended requests have used, by the key that their callers chose.

    Invariant: at most `most` keys, the longest quiet ones forgotten first.
    """

    most: int = MOST_KEYS
    kept_s: float = KEPT_S
    clock: Callable[[], float] = time.monotonic
    _by_key: OrderedDict[str, tuple[float, list[dict[str, Any]]]] = field(
        default_factory=OrderedDict
    )

    def add(self, key: str, ended: dict[str, Any]) -> None:
        """Remember one request that has ended."""
        _, requests = self._by_key.pop(key, (0.0, []))
        self._by_key[key] = (self.clock(), [*requests, ended])
        self._forget()

    def find(self, key: str) -> list[dict[str, Any]] | None:
        """The requests under `key`, in the order in which they ended; None: none is known."""
        self._forget()
        found = self._by_key.get(key)
        return None if found is None else found[1]

    def _forget(self) -> None:
        oldest_kept = self.clock() - self.kept_s
        while self._by_key:
            at, _ = next(iter(self._by_key.values()))
            if at >= oldest_kept and len(self._by_key) <= self.most:
                return
            self._by_key.popitem(last=False)
