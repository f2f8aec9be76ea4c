"""Real runs are kept, and a simulation is held against their median."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace as replace_struct

from infra.simulator.compare import RealRun, figures_of, keep, kept, simulated, spec_of, table
from infra.simulator.measure import keep as keep_times
from infra.simulator.outcomes import Summary
from infra.simulator.step_times import StepTimes, load
from infra.simulator.trace import Traffic, requests_of, trace

TIMES = load("smollm2-135m-one-thread")
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
    real = [figures_of(replace(RUN, itl_mean_s=seconds)) for seconds in (0.010, 0.030, 0.012)]
    found = [figures_of(replace(RUN, itl_mean_s=seconds)) for seconds in (0.011, 0.009, 0.020)]
    cells = _row(table(real, found), "between tokens, ms")
    assert cells == ["12", "10, 30", "11", "9, 20", "-8.3%"]


def test_runs_of_before_count_too(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    runs = [RealRun(figures_of(RUN), 0.1), RealRun(figures_of(RUN), 0.8, is_first=True)]
    for run in runs:
        keep(run, path)
    assert kept(path) == runs
    assert [run.cores_less for run in runs] == [0.1, 0.0]


def test_step_times_are_the_medians_of_all_measurements(tmp_path: Path) -> None:
    path = tmp_path / "hardware.json"
    for factor in (1.0, 3.0, 1.1):
        slower = tuple(factor * seconds for seconds in TIMES.base_s)
        keep_times(replace_struct(TIMES, base_s=slower, prompt_s=factor * TIMES.prompt_s), path)
    found = msgspec.json.decode(path.read_bytes(), type=StepTimes)
    assert found.base_s == pytest.approx([1.1 * seconds for seconds in TIMES.base_s], rel=1e-3)
    assert found.prompt_s == pytest.approx(1.1 * TIMES.prompt_s, rel=1e-3)
    assert (found.batches, found.kv_tokens) == (TIMES.batches, TIMES.kv_tokens)


def test_simulations_lose_no_request_and_are_the_same_each_time() -> None:
    spec = spec_of(TIMES, 2)
    conversations = trace(Traffic(conversations=8, per_s=4.0, pause_s=0.5, scale=0.1), 3)
    runs = simulated(spec, conversations, 2)
    assert [run.completed for run in runs] == 2 * [requests_of(conversations)]
    assert runs == simulated(spec, conversations, 2)
    assert runs[0].ttft_mean_s != pytest.approx(runs[1].ttft_mean_s, rel=1e-6)
