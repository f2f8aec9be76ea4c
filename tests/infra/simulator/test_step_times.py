"""What steps take: tables, and how well a fit explains what was published."""

import msgspec
import numpy as np
import pytest

from infra.simulator.step_times import StepTimes, load, published

H100 = "llama-3.3-70b-fp8-h100x2"
TABLE = StepTimes(
    model="m",
    hardware="h",
    source="s",
    gpus=1,
    batches=(1, 4, 8),
    base_s=(0.010, 0.016, 0.020),
    empty_s=0.008,
    context_s=1e-6,
    prompt_s=1e-4,
    attended_s=1e-8,
)


def test_batches_between_the_table_lie_on_its_lines() -> None:
    assert TABLE.decode_s([0, 1, 2, 4, 12], 0).tolist() == pytest.approx(
        [0.008, 0.010, 0.012, 0.016, 0.024]
    )


def test_context_and_prompts_add_their_time() -> None:
    assert float(TABLE.decode_s(1, 1000)) == pytest.approx(0.011)
    whole = float(TABLE.prefill_s(200, 0))
    parts = float(TABLE.prefill_s(120, 0)) + float(TABLE.prefill_s(80, 120))
    assert whole == pytest.approx(parts)


def test_prompt_tokens_beside_decode_requests_cost_what_was_measured_for_them() -> None:
    both = msgspec.structs.replace(TABLE, beside_s=2e-4)
    assert float(both.prefill_s(32, 0, beside=3)) > float(both.prefill_s(32, 0)) * 1.9
    assert float(TABLE.prefill_s(32, 0, beside=3)) == float(TABLE.prefill_s(32, 0))


def test_fit_explains_the_published_latencies() -> None:
    """Each published time between tokens within 10 %: five loads, one to 250 requests at once."""
    times, rows = load(H100), published(H100).runs
    off = []
    for run in rows:
        prompts = run.tokens_s / run.output * float(times.prefill_s(run.input, 0))
        step = float(times.decode_s(run.running, run.context)) / (1 - prompts)
        off.append(abs(step / (run.itl_ms / 1000) - 1))
    assert len(off) > 25
    assert max(off) < 0.10
    assert np.mean(off) < 0.04


def test_fit_finds_the_memory_that_the_published_runs_filled() -> None:
    """FP8 weights of 70 GB leave some 70 of 160 GB for keys and values of 164 kB a token."""
    assert 400_000 < load(H100).kv_tokens < 500_000
