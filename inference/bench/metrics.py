"""The metrics of a workload, named as vLLM's `bench serve` names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from inference.bench.client import Timing


@dataclass(frozen=True)
class ServiceLevel:
    """What a request must keep to count as good (vLLM's `--goodput`), in milliseconds."""

    ttft_ms: float = 2000.0
    tpot_ms: float = 100.0

    def kept_by(self, timing: Timing) -> bool:
        slow_tokens = timing.tpot is not None and timing.tpot * 1e3 > self.tpot_ms
        return timing.ttft * 1e3 <= self.ttft_ms and not slow_tokens


@dataclass(frozen=True)
class Metrics:
    """One row of the report. Rates are per second of the whole workload."""

    workload: str
    completed: int
    duration: float
    total_input_tokens: int
    total_output_tokens: int
    request_throughput: float
    request_goodput: float
    output_throughput: float
    median_ttft_ms: float
    p99_ttft_ms: float
    mean_tpot_ms: float
    median_itl_ms: float
    p99_itl_ms: float
    median_e2el_ms: float

    @classmethod
    def of(
        cls, workload: str, timings: Sequence[Timing], level: ServiceLevel | None = None
    ) -> Metrics:
        """Sum up the timings of a workload; there is at least one."""
        level = level or ServiceLevel()
        began = min(timing.began for timing in timings)
        duration = max(timing.tokens[-1] for timing in timings) - began
        gaps = [gap for timing in timings for gap in timing.gaps]
        tpots = [timing.tpot for timing in timings if timing.tpot is not None]
        generated = sum(len(timing.tokens) for timing in timings)
        return cls(
            workload=workload,
            completed=len(timings),
            duration=duration,
            total_input_tokens=sum(timing.prompt_tokens for timing in timings),
            total_output_tokens=generated,
            request_throughput=len(timings) / duration,
            request_goodput=sum(level.kept_by(timing) for timing in timings) / duration,
            output_throughput=generated / duration,
            median_ttft_ms=1e3 * percentile([t.ttft for t in timings], 50),
            p99_ttft_ms=1e3 * percentile([t.ttft for t in timings], 99),
            mean_tpot_ms=1e3 * fmean(tpots) if tpots else 0.0,
            median_itl_ms=1e3 * percentile(gaps, 50),
            p99_itl_ms=1e3 * percentile(gaps, 99),
            median_e2el_ms=1e3 * percentile([t.latency for t in timings], 50),
        )


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile; 0 of no values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)
    return ordered[max(0, int(rank) - 1)]
