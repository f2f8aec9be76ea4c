"""What a fleet's run adds up to: minute by minute, and as histograms of times to first token."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from infra.simulator.step_times import Floats

_LOW_S, _HIGH_S, _PER_DECADE = 1e-3, 1e4, 60
_BINS = round(np.log10(_HIGH_S / _LOW_S) * _PER_DECADE)

FIELDS = (
    "asked",
    "completed",
    "refused",
    "failed",
    "input",
    "cached",
    "output",
    "waiting_s",
    "busy_s",
    "held_s",
    "ready_s",
    "paid_s",
    "dollars",
    "ttft_s",
    "begun",
)
"""Sums of each interval; `_s` are seconds of all replicas (or waiting requests) together: `ready_s`
of replicas that serve, `paid_s` also of those that start or are broken, `held_s` of requests at
replicas."""


class Ledger:
    """Intervals of `every_s` from 0 on."""

    def __init__(self, duration_s: float, every_s: float = 60.0) -> None:
        self.every_s = every_s
        self.count = max(1, int(np.ceil(duration_s / every_s)))
        self._sums = {name: np.zeros(self.count) for name in FIELDS}
        self._ttft = np.zeros((self.count, _BINS))

    def add(self, now: float, **amounts: float) -> None:
        at = self._at(now)
        for name, amount in amounts.items():
            self._sums[name][at] += amount

    def begun(self, now: float, ttft_s: Floats) -> None:
        """First tokens."""
        at = self._at(now)
        clipped = np.clip(ttft_s, _LOW_S, _HIGH_S * 0.999)
        bins = (np.log10(clipped / _LOW_S) * _PER_DECADE).astype(int)
        self._ttft[at] += np.bincount(bins, minlength=_BINS)
        self._sums["begun"][at] += len(ttft_s)
        self._sums["ttft_s"][at] += float(np.maximum(ttft_s, 0.0).sum())

    def of(self, name: str) -> Floats:
        return self._sums[name]

    def ttft(self, share: float, begin: int = 0, end: int | None = None) -> float:
        """The time within which `share` of the first tokens came, of intervals [begin, end)."""
        counts = self._ttft[begin:end].sum(axis=0)
        if not counts.sum():
            return float("nan")
        at = int(np.searchsorted(np.cumsum(counts), share * counts.sum()))
        return float(_LOW_S * 10 ** ((min(at, _BINS - 1) + 0.5) / _PER_DECADE))

    def ttft_over_time(self, share: float) -> Floats:
        return np.array([self.ttft(share, at, at + 1) for at in range(self.count)])

    def figures(self, begin: int = 0, end: int | None = None) -> Figures:
        """Of intervals [begin, end)."""
        total = {name: float(sums[begin:end].sum()) for name, sums in self._sums.items()}
        ready = max(total["ready_s"], 1e-9)
        return Figures(
            asked=total["asked"],
            completed=total["completed"],
            refused=total["refused"],
            failed=total["failed"],
            ttft_mean_s=total["ttft_s"] / max(total["begun"], 1),
            ttft_p50_s=self.ttft(0.5, begin, end),
            ttft_p95_s=self.ttft(0.95, begin, end),
            ttft_p99_s=self.ttft(0.99, begin, end),
            output_tokens=total["output"],
            cached_share=total["cached"] / max(total["input"], 1),
            busy=total["busy_s"] / ready,
            held=total["held_s"] / ready,
            replica_hours=total["paid_s"] / 3600,
            dollars=total["dollars"],
            dollars_per_million=1e6 * total["dollars"] / max(total["output"], 1),
        )

    def _at(self, now: float) -> int:
        return min(self.count - 1, max(0, int(now / self.every_s)))


@dataclass(frozen=True, slots=True)
class Figures:
    """`busy`: the part of the serving replicas' time in which they computed; `held`: requests at
    one of them, on average; dollars a million: of output tokens."""

    asked: float
    completed: float
    refused: float
    failed: float
    ttft_mean_s: float
    ttft_p50_s: float
    ttft_p95_s: float
    ttft_p99_s: float
    output_tokens: float
    cached_share: float
    busy: float
    held: float
    replica_hours: float
    dollars: float
    dollars_per_million: float
