"""Scenarios as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence

from infra.simulator.scenarios import Result, Scenario

_HEAD = (
    "| | TTFT p50 | p95 | p99 | cached | busy | running | refused | tries that failed"
    " | GPU-hours | $ a million tokens |"
)


def table(scenario: Scenario, results: Sequence[Result]) -> str:
    lines = [f"**{scenario.name}**: {scenario.explains}", "", _HEAD, "|---" + "|--:" * 10 + "|"]
    lines += [_row(result) for result in results]
    return "\n".join(lines) + "\n"


def _row(result: Result) -> str:
    found = result.figures
    cells = (
        result.run.label,
        _seconds(found.ttft_p50_s),
        _seconds(found.ttft_p95_s),
        _seconds(found.ttft_p99_s),
        f"{found.cached_share:.0%}",
        f"{found.busy:.0%}",
        f"{found.held:.0f} of {result.run.spec.places}",
        f"{found.refused / max(found.asked, 1):.1%}",
        f"{result.failed_tries:,.0f}",
        f"{found.replica_hours * result.part * result.gpus:,.0f}",
        f"{found.dollars_per_million:.2f}",
    )
    return "| " + " | ".join(cells) + " |"


def _seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"
