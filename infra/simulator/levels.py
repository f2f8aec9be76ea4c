"""One trace at both levels: how far the closed form is from the real scheduler, and how fast."""

from __future__ import annotations

import time
from dataclasses import replace

from infra.simulator.exact import PoolSpec, simulate
from infra.simulator.fleet import Fleet, FleetSpec
from infra.simulator.ledger import Ledger
from infra.simulator.outcomes import summarized
from infra.simulator.people import TraceSource
from infra.simulator.scenarios import PLACES, SCHEDULER
from infra.simulator.step_times import StepTimes
from infra.simulator.trace import Traffic, trace

_TRAFFIC = Traffic(conversations=500, per_s=12.0)
_REPLICAS = 4
_LIMIT_S = 10_000.0
_SEED = 1


def table(times: StepTimes) -> str:
    conversations = trace(_TRAFFIC, _SEED)
    lines = [
        "| policy | level | TTFT mean | p50 | p95 | cached | output tokens/s | seconds |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    exact = PoolSpec(times, _REPLICAS, places=PLACES, scheduler=SCHEDULER, announces=False)
    fleet = FleetSpec(times, _REPLICAS, places=PLACES, scheduler=SCHEDULER, window_s=0.5)
    for routing in ("prefix", "random"):
        began = time.monotonic()
        outcomes = simulate(replace(exact, routing=routing), conversations, _SEED)
        one = summarized(outcomes, _REPLICAS)
        lines.append(
            _row(
                (routing, "exact"),
                (one.ttft_mean_s, one.ttft_p50_s, one.ttft_p95_s),
                one.cached_share,
                one.output_per_s,
                time.monotonic() - began,
            )
        )
        began = time.monotonic()
        ledger = Ledger(_LIMIT_S)
        run = Fleet(replace(fleet, routing=routing), TraceSource(conversations), ledger, _SEED)
        run.run(_LIMIT_S)
        two = ledger.figures()
        lines.append(
            _row(
                ("", "fleet"),
                (two.ttft_mean_s, two.ttft_p50_s, two.ttft_p95_s),
                two.cached_share,
                two.output_tokens / run.now,
                time.monotonic() - began,
            )
        )
    return "\n".join(lines)


def _row(
    names: tuple[str, str],
    ttft_s: tuple[float, float, float],
    cached: float,
    output_per_s: float,
    took_s: float,
) -> str:
    first = " | ".join(f"{1000 * each:.0f} ms" for each in ttft_s)
    return f"| {' | '.join(names)} | {first} | {cached:.0%} | {output_per_s:,.0f} | {took_s:.1f} |"
