"""Real runs are kept, and a simulation is held against their median."""

from dataclasses import replace
from pathlib import Path

import pytest

from infra.simulator.compare import RealRun, keep, simulated, spec_of, table
from infra.simulator.outcomes import Summary
from infra.simulator.step_times import load
from infra.simulator.trace import Traffic, requests_of, trace

RUN = Summary(
    requests=10,
    completed=10,
    refused=0,
    failed=0,
    ttft_mean_s=0.1,
    ttft_p50_s=0.1,
    ttft_p95_s=0.4,
    ttft_p99_s=0.5,
    itl_mean_s=0.01,
    output_per_s=170.0,
    cached_share=0.5,
    busiest=1.3,
)


def _row(text: str, name: str) -> list[str]:
    [line] = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_medians_are_compared_and_spreads_are_shown() -> None:
    real = [replace(RUN, itl_mean_s=seconds) for seconds in (0.010, 0.030, 0.012)]
    found = [replace(RUN, itl_mean_s=seconds) for seconds in (0.011, 0.009, 0.020)]
    cells = _row(table(real, found), "between tokens, ms")
    assert cells == ["12", "10, 30", "11", "9, 20", "-8.3%"]


def test_runs_of_before_count_too(tmp_path: Path) -> None:
    path = tmp_path / "simulator" / "runs.jsonl"
    first, second = RealRun(RUN, 0.1, 200.0), RealRun(replace(RUN, busiest=1.5), 0.2, 210.0)
    assert keep(first, path) == [first]
    assert keep(second, path) == [first, second]


def test_simulations_lose_no_request_and_are_the_same_each_time() -> None:
    spec = spec_of(load("smollm2-135m-one-thread"), 2)
    conversations = trace(Traffic(conversations=8, per_s=4.0, pause_s=0.5, scale=0.1), 3)
    runs = simulated(spec, conversations, 2)
    assert [run.completed for run in runs] == 2 * [requests_of(conversations)]
    assert runs == simulated(spec, conversations, 2)
    assert runs[0].ttft_mean_s != pytest.approx(runs[1].ttft_mean_s, rel=1e-6)
