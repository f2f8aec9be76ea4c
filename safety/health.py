"""Which layers work. A layer that fails keeps deciding nothing; this says so to `/readyz`.

Failures never raise into a request: `safety.score.detect` records them here and goes on as the
policy says (docs/safety.md, "When a layer fails").
"""

import time
from collections import Counter
from dataclasses import dataclass
from threading import Lock

RECENT_S = 300.0


@dataclass(frozen=True, slots=True)
class LayerFailure:
    """The latest failure of a layer; `at` is `time.time()`."""

    layer: str
    error: str
    at: float


_latest: dict[str, LayerFailure] = {}
_counts: Counter[str] = Counter()
_lock = Lock()


def failure_record(layer: str, error: BaseException) -> None:
    """Remember that `layer` failed with `error`; only its type is kept, never a text."""
    with _lock:
        _counts[layer] += 1
        _latest[layer] = LayerFailure(layer, type(error).__name__, time.time())


def recent_failures() -> list[LayerFailure]:
    """Layers that failed within RECENT_S; empty means healthy."""
    with _lock:
        return [f for f in _latest.values() if time.time() - f.at < RECENT_S]


def failure_counts() -> dict[str, int]:
    """Failures by layer since the process started."""
    with _lock:
        return dict(_counts)


def failures_clear() -> None:
    with _lock:
        _latest.clear()
        _counts.clear()
