"""What the benchmark reports follows from the times of tokens, by hand on small examples."""

from __future__ import annotations

import random
import time
from pathlib import Path
from statistics import fmean
from xml.etree import ElementTree

import pytest

from inference.bench import context, decode, start
from inference.bench.__main__ import measure_peers
from inference.bench.beside import Beside
from inference.bench.client import Timing, ask, session
from inference.bench.engine import EngineFigures, Start, decode_rate
from inference.bench.kept import Kept
from inference.bench.lengths import MAX_LENGTH, MEAN_OUTPUT, MEAN_PROMPT, sharegpt_lengths
from inference.bench.limits import Machine, prefill_flops
from inference.bench.metrics import Metrics, ServiceLevel, percentile
from inference.bench.peers.cases import Cases, Rates
from inference.bench.pools import default_sampling
from inference.bench.random_model import write_random_model
from inference.bench.report import BenchReport, markdown, plot
from inference.bench.workloads import rewriting_prompts
from inference.model.config import ModelConfig

FAST = Timing(began=0.0, tokens=[0.5, 0.6, 0.7, 0.8], prompt_tokens=10)
SLOW = Timing(began=0.2, tokens=[1.2, 1.7, 2.2], prompt_tokens=20)


def test_metrics_of_two_requests():
    row = Metrics.of("two", [FAST, SLOW], ServiceLevel(ttft_ms=800, tpot_ms=200))
    assert row.duration == pytest.approx(2.2)
    assert row.output_throughput == pytest.approx(7 / 2.2)
    assert row.request_throughput == pytest.approx(2 / 2.2)
    assert row.request_goodput == pytest.approx(1 / 2.2), "only the fast one was good"
    assert row.median_ttft_ms == pytest.approx(500)
    assert row.p99_ttft_ms == pytest.approx(1000)
    assert row.mean_tpot_ms == pytest.approx((100 + 500) / 2)
    assert row.p99_itl_ms == pytest.approx(500)
    assert row.total_input_tokens == 30


def test_answer_of_one_token_has_no_time_per_output_token():
    row = Metrics.of("one", [Timing(0.0, [0.3], 5)])
    assert (row.mean_tpot_ms, row.p99_itl_ms) == (0.0, 0.0)


def test_percentiles_are_values_that_occurred():
    values = [float(i) for i in range(1, 101)]
    assert [percentile(values, p) for p in (1, 50, 99, 100)] == [1, 50, 99, 100]


def test_decode_rate_counts_while_all_requests_run():
    first = Timing(0.0, [1.0, 2.0, 3.0, 4.0], 1)
    second = Timing(0.0, [2.0, 3.0, 4.0, 5.0], 1)
    assert decode_rate([first, second]) == pytest.approx(4 / 2)  # from 2 to 4


def test_lengths_have_the_published_means():
    lengths = sharegpt_lengths(20000, random.Random(0))
    assert fmean(p for p, _ in lengths) == pytest.approx(MEAN_PROMPT, rel=0.05)
    assert fmean(o for _, o in lengths) == pytest.approx(MEAN_OUTPUT, rel=0.06)  # cut at the top
    assert max(max(pair) for pair in lengths) <= MAX_LENGTH


def test_prompt_costs_two_operations_a_weight_and_token():
    config = ModelConfig("llama", 100, 8, 16, 3, 2, 2, 4, 1e-5, 64, True, frozenset())
    weights = 3 * (8 * 24 + 8 * 8 + 3 * 8 * 16)
    assert prefill_flops(config, 1) == pytest.approx(2 * (weights + 3 * 8))


def test_case_is_repeated_while_time_is_left():
    cases = Cases(repeats=3, time_limit_s=30.0)
    assert cases.wants_another(0, 0.0)
    assert cases.wants_another(1, 15.0)
    assert not cases.wants_another(1, 15.1), "a second run would end after 30.2 s"
    assert not cases.wants_another(3, 1.0)


def test_bench_texts_are_files_of_the_repository():
    prompts = rewriting_prompts()
    assert len(set(prompts)) == len(prompts) >= 12


async def test_every_token_of_a_chunk_is_timed(tiny_served):
    """Guesses put several tokens into a chunk, and half a character none."""
    async with session(tiny_served.url) as client:
        timing = await ask(client, [65, 66, 67, 68] * 8, 40)
    assert (len(timing.tokens), timing.prompt_tokens) == (40, 32)
    assert timing.tokens == sorted(timing.tokens)


def make_report() -> BenchReport:
    cases = Cases(streams=(1, 8))
    ours = Rates({1: 60.0, 8: 200.0}, {512: 900.0, 1000: 800.0})
    theirs = Rates({1: 40.0, 8: 100.0}, {512: 300.0, 1000: 200.0})
    return BenchReport(
        model="tiny.gguf",
        machine=Machine("a processor", 2, 100.0, 1000.0, 10.0),
        load_before=0.1,
        start=Start(seconds=2.5, memory=300_000_000, file=200_000_000),
        cases=cases,
        engine=EngineFigures([Metrics.of("two", [FAST, SLOW])], ours, {"a to b": 2.5}, 30.0),
        peers={"llama.cpp": theirs},
        missing={"transformers": "not installed"},
        limits={"decode step, 1 stream": 0.01, "prompt of 1,000": 1.0},
    )


def test_report_has_ratios_limits_and_what_is_missing():
    text = markdown(make_report())
    assert "| decode, 8 | 200.0 | 100.0 | 2.00 |" in text
    assert "| prefill, 512 | 900.0 | 300.0 | 3.00 |" in text
    assert "| prefill, 1,000 | 800.0 | 200.0 | 4.00 |" in text
    assert "| prompt of 1,000 | 1,000.0 | 1,250.0 | 80% | 5.00 |" in text, "5 times llama.cpp"
    assert "| decode step, 1 stream | 10.0 | 16.7 | 60% | 2.50 |" in text
    assert "transformers was not measured: not installed." in text
    assert "Ready 2.5 s after the command, with 300 MB: 1.50 times the file." in text


def test_run_goes_on_where_one_before_it_ended(tmp_path):
    file, model = tmp_path / "kept.json", Path("elsewhere/tiny.gguf")
    assert Kept(file).report(model, make_report().cases) is None
    Kept(file).add(make_report())
    again = Kept(file)
    assert again.report(model, make_report().cases) == make_report()
    assert again.report(Path("other.gguf"), make_report().cases) is None
    with pytest.raises(SystemExit, match=r"tiny\.gguf in other sizes"):
        again.report(model, Cases(streams=(1, 32)))


def test_peer_without_its_own_environment_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, missing = measure_peers(Path("a.gguf"), Cases(), ["vllm"], time.monotonic() + 60)
    assert (found, missing) == ({}, {"vllm": "not installed"})


def test_chats_beside_a_long_prompt_have_ratios():
    seen = Beside([0.1, 0.2, 0.3], [0.5, 0.6, 0.7], long_alone=10.0, long_beside=15.0)
    cells = [cell.strip() for cell in seen.row(4).split("|")[1:-1]]
    assert cells == ["4", "0.20", "0.60", "0.70", "3.0", "10.0", "15.0", "1.50", "3"]


def test_sampling_of_a_model_is_that_of_its_pool(tmp_path):
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra/pools.toml").write_text(
        '[[model]]\nid = "tiny"\nsampling = {top_k = 3}\n[[model]]\nid = "plain"\n'
    )
    assert default_sampling(Path("elsewhere/Tiny-Q4.gguf"), tmp_path) == {"top_k": 3}
    assert default_sampling(Path("plain.gguf"), tmp_path) is None


def test_plot_is_an_image_with_a_bar_for_each_rate():
    image = ElementTree.fromstring(plot(make_report()))
    bars = [e for e in image.iter() if e.tag.endswith("rect") and e.get("height") == "14"]
    assert len(bars) == 4 * 2


@pytest.fixture(scope="module")
def random_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_random_model(tmp_path_factory.mktemp("bench") / "random")


@pytest.fixture(scope="module")
def measured() -> Machine:
    return Machine.measure(size=64)


@pytest.fixture
def measured_once(measured: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """To measure what this machine can do takes seconds, and minutes without int8 products."""
    monkeypatch.setattr(Machine, "measure", lambda _clock: measured)


def test_stages_of_a_start_make_up_the_whole(random_model, capsys):
    model = str(random_model)
    start.main(["--model", model, "--runs", "1", "--", "--max-model-len", "1024"])
    out = capsys.readouterr().out.splitlines()
    names, seconds = ([cell.strip() for cell in row.split("|")[2:-1]] for row in (out[-3], out[-1]))
    assert names[0] == "until the core starts"
    assert names[-1] == "until the port answers"
    assert {"imports", "weights", "first token", "keys and values"} < set(names)
    [whole] = [row.split()[2] for row in out if row.startswith("Ready after")]
    assert sum(map(float, seconds)) == pytest.approx(float(whole), abs=0.05)


def test_host_time_of_a_step_is_printed_for_each_context(random_model, capsys):
    context._print_host(random_model, [64, 1500])
    rows = capsys.readouterr().out.splitlines()[-2:]
    assert [row.split("|")[1].strip() for row in rows] == ["64", "1,500"]
    assert all(row.count("µs") == 2 for row in rows)


@pytest.mark.usefixtures("measured_once")
def test_decode_steps_are_printed_for_each_context_and_number_of_streams(random_model, capsys):
    model = str(random_model)
    options = ["--contexts", "64", "300", "--streams", "1", "3", "--threads", "1"]
    decode.main(["--model", model, *options])
    rows = [row.split("|")[1:-1] for row in capsys.readouterr().out.splitlines()[-4:]]
    cells = [[cell.strip() for cell in row] for row in rows]
    assert [row[:2] for row in cells] == [["64", "1"], ["64", "3"], ["300", "1"], ["300", "3"]]
    assert all(float(cell.rstrip("%")) >= 0 for row in cells for cell in row[2:])
    assert all(len(row) == 8 for row in cells)


@pytest.mark.usefixtures("measured_once")
def test_decode_step_that_does_not_fit_says_how_much_it_needs(random_model, capsys):
    model = str(random_model)
    decode.main(["--model", model, "--contexts", "1000000000", "--streams", "8"])
    assert "| 1,000,000,000 | 8 | needs " in capsys.readouterr().out
