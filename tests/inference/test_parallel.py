"""A model on several ranks gives the tokens that transformers gives on one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable

import pytest
import torch

from inference.config import EngineConfig, SchedulerConfig, SpeculationConfig
from inference.engine.engine_core import EngineCore
from inference.errors import EngineBrokenError, ModelLoadError
from inference.kernels.batch import Batch, DecodeBatch, PrefillChunk
from inference.model.decoder import Hidden
from inference.model.files.open import open_weights
from inference.parallel import launch
from inference.parallel.group import TensorGroup
from inference.parallel.leader import LeadingModel
from inference.parallel.micro_batches import split
from inference.parallel.shard import ShardedReader
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import Driver, greedy
from tests.inference.test_families import PROMPTS, make_folder, reference_answer

_RANKS = multiprocessing.get_context("forkserver")
_RANKS.set_forkserver_preload(["pytest", "inference.parallel.launch"])


class ForkedRank:
    """A following rank of a process that has imported torch, with what its leader asks of one."""

    def __init__(self, start: launch.FollowerStart) -> None:
        arguments = (start.engine, start.rank, start.address)
        self._process = _RANKS.Process(target=launch.run_follower, args=arguments, daemon=True)
        self._process.start()

    def kill(self) -> None:
        self._process.kill()

    def wait(self) -> None:
        self._process.join()


@pytest.fixture
def forked_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two seconds of processor time less for each. The other tests start them as an engine does."""
    monkeypatch.setattr(launch, "_start", ForkedRank)


@pytest.mark.usefixtures("forked_ranks")
@pytest.mark.parametrize(
    ("family", "tensor", "pipeline"),
    [
        ("llama-tied", 2, 1),
        ("qwen3-moe", 2, 1),
        ("llama-attention-bias", 1, 3),
        ("qwen2", 2, 2),
        ("gemma3", 2, 1),
        ("gpt-oss", 1, 3),
    ],
)
def test_same_greedy_tokens_on_several_ranks(family, tensor, pipeline, tmp_path):
    """With chunks, so that streams and prompts travel together."""
    reference = make_folder(family, tmp_path)
    config = EngineConfig(
        model=str(tmp_path),
        dtype="float32",
        num_blocks=32,
        num_threads=1,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
        scheduler=SchedulerConfig(max_num_batched_tokens=23, mixed_step_tokens=11),
    )
    runner = ModelRunner(config)
    try:
        assert (runner.windowed is not None) == (family == "gemma3"), "a pipeline has one table"
        driver = Driver(EngineCore(config, runner))
        prompts = [*PROMPTS, PROMPTS[0][:20]]
        ids = [driver.add(p, greedy(max_tokens=8, ignore_eos=True)) for p in prompts]
        tokens = driver.run()
    finally:
        runner.close()
    for i, prompt in zip(ids, prompts, strict=True):
        assert tokens[i] == reference_answer(reference, prompt, 8, tokens[i])


@pytest.mark.parametrize(
    "part",
    [
        "hidden",
        pytest.param(
            "logits",
            marks=pytest.mark.nightly(
                beside="tests/inference/test_parallel.py"
                "::test_step_that_fails_between_the_ranks_ends_the_core"
            ),
        ),
    ],
)
def test_step_that_fails_between_the_ranks_ends_the_core(part, tmp_path):
    """The other rank is in the middle of it: its next sum would be one of two steps."""
    make_folder("llama", tmp_path)
    config = EngineConfig(
        model=str(tmp_path), dtype="float32", num_blocks=32, num_threads=1, tensor_parallel=2
    )
    runner = ModelRunner(config)
    assert isinstance(runner._model, LeadingModel)
    failing = runner._model._stage if part == "hidden" else runner._model._ends

    def fail(*_: object) -> None:
        raise RuntimeError("a kernel failed on this rank alone")

    setattr(failing, part, fail)
    driver = Driver(EngineCore(config, runner))
    driver.add(PROMPTS[0])
    try:
        with pytest.raises(EngineBrokenError, match="on this rank alone"):
            driver.run()
    finally:
        runner.close()  # waits until the other rank has ended


class Again:
    """A `Capture` that computes once more over the same tensors, as a CUDA graph does: with the
    other ranks, who must be at the same size."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.sizes: list[int] = []
        """What was recorded, in order."""
        self.replayed: list[int] = []
        self._fails_at = fails_at

    def __call__(self, compute: Callable[[], Hidden]) -> tuple[Callable[[], None], Hidden]:
        compute()
        recorded = compute()
        size = len(recorded[0])
        if size == self._fails_at:
            raise RuntimeError("this rank cannot record it")
        self.sizes.append(size)

        def replay() -> None:
            self.replayed.append(size)
            for to, found in zip(recorded, compute(), strict=True):
                to.copy_(found)

        return replay, recorded


def follow_and_record(start: launch.FollowerStart, fails_at: int | None) -> None:
    """A following rank that records by a stand-in."""
    launch.pick_capture = lambda *_: Again(fails_at)
    launch.run_follower(start.engine, start.rank, start.address)


class RecordingRank(ForkedRank):
    fails_at: int | None = None

    def __init__(self, start: launch.FollowerStart) -> None:
        arguments = (start, self.fails_at)
        self._process = _RANKS.Process(target=follow_and_record, args=arguments, daemon=True)
        self._process.start()


@pytest.mark.parametrize("fails_at", [None, 2])
def test_ranks_record_the_same_sizes_and_replay_in_step(fails_at, tmp_path, monkeypatch):
    """Decode steps of up to four requests, by graphs of 1, 2 and 4 rows; where a rank cannot
    record one, all compute every step as it is."""
    reference = make_folder("llama-tied", tmp_path)
    config = EngineConfig(
        model=str(tmp_path),
        dtype="float32",
        num_blocks=32,
        num_threads=1,
        tensor_parallel=2,
        scheduler=SchedulerConfig(max_num_seqs=5, max_num_batched_tokens=23, mixed_step_tokens=11),
        speculation=SpeculationConfig(prompt_lookup=False),
    )
    capture = Again()
    monkeypatch.setattr(RecordingRank, "fails_at", fails_at)
    monkeypatch.setattr(launch, "_start", RecordingRank)
    monkeypatch.setattr(launch, "pick_capture", lambda *_: capture)
    runner = ModelRunner(config)
    try:
        driver = Driver(EngineCore(config, runner))
        prompts = [*PROMPTS, PROMPTS[0][:20]]
        ids = [
            driver.add(prompt, greedy(max_tokens=5 + 3 * at, ignore_eos=True))
            for at, prompt in enumerate(prompts)
        ]
        tokens = driver.run()
    finally:
        runner.close()
    for at, (i, prompt) in enumerate(zip(ids, prompts, strict=True)):
        assert tokens[i] == reference_answer(reference, prompt, 5 + 3 * at, tokens[i])
    assert capture.sizes == ([4, 2] if fails_at else [4, 2, 1])
    assert set(capture.replayed) == (set() if fails_at else {1, 2, 4})


def test_pipeline_is_not_recorded(tmp_path, monkeypatch):
    make_folder("llama", tmp_path)
    config = EngineConfig(
        model=str(tmp_path), dtype="float32", num_blocks=32, num_threads=1, pipeline_parallel=2
    )
    capture = Again()
    monkeypatch.setattr(launch, "_start", RecordingRank)
    monkeypatch.setattr(launch, "pick_capture", lambda *_: capture)
    ModelRunner(config).close()
    assert capture.sizes == []


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("wanted", [False, True])
def test_ranks_record_where_it_is_asked_for_on_gpus(device, wanted):
    config = EngineConfig(model="any", tensor_parallel=2, graphs_on_ranks=wanted)
    capture = launch.pick_capture(config, torch.device(device))
    assert (capture is not None) == (wanted and device == "cuda")


def test_model_that_cannot_be_split_is_refused(tmp_path):
    make_folder("llama", tmp_path)  # two key-value heads
    with pytest.raises(ModelLoadError, match="2 key-value heads cannot be split over 4"):
        ShardedReader(open_weights(str(tmp_path)), TensorGroup(0, 4))


def test_parts_of_all_ranks_cover_everything_once():
    for total, size in ((49152, 4), (7, 3), (2, 4)):
        parts = [TensorGroup(rank, size).part(total) for rank in range(size)]
        assert [i for part in parts for i in part] == list(range(total))


def make_batch(stream_slots: torch.Tensor, span_slots: torch.Tensor) -> Batch:
    """A stream whose context is one block, and a chunk of two tokens after some cached ones."""
    table = stream_slots[:1] // 16
    decode = DecodeBatch(table[None].int(), torch.tensor([4], dtype=torch.int32), 16)
    start = len(span_slots) - 2
    return Batch(
        token_ids=torch.arange(3),
        positions=torch.tensor([3, start, start + 1]),
        slots=torch.cat((stream_slots[3:4], span_slots[start:])),
        decode=decode,
        prefill=(PrefillChunk(1, 3, start, span_slots),),
        logits_rows=torch.tensor([0, 2]),
    )


def test_micro_batches_are_the_batch_in_order():
    batch = make_batch(torch.arange(4), torch.arange(16, 22))
    parts = split(batch, 2)
    assert len(parts) == 2
    assert torch.cat([part.token_ids for part in parts]).tolist() == [0, 1, 2]
    [chunk] = parts[1].prefill
    assert (chunk.begin, chunk.end, chunk.start) == (0, 2, 4)
    assert parts[0].num_decode == 1


def test_batch_is_not_split_when_a_chunk_reads_what_a_later_one_writes():
    """The stream shares the block that the chunk, laid out after it, fills in this step."""
    batch = make_batch(torch.arange(4), torch.tensor([30, 31, 2, 1]))
    assert split(batch, 2) == [batch]
