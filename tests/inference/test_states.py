"""States of fixed size beside keys and values (Falcon-H1): each request has its own, whatever else
is computed, and it begins empty."""

from __future__ import annotations

from pathlib import Path

import hypothesis.strategies as st
import pytest
import torch
import transformers
from hypothesis import given, settings

from inference.config import EngineConfig, SchedulerConfig, SpeculationConfig
from inference.core_main import make_proposers
from inference.engine.engine_core import EngineCore
from inference.errors import ModelLoadError
from inference.runner.model_runner import ModelRunner
from inference.speculation.prompt_lookup import PromptLookup
from tests.inference.conftest import Driver, greedy
from tests.inference.test_families import make_folder, reference_answer

PROMPTS = [
    [(5 * i + 11 * j * j + j) % 120 + 3 for j in range(n)] for i, n in enumerate((40, 1, 17))
]
ANSWER = 10


class Hybrid:
    """A small random model, and what transformers answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reference: transformers.PreTrainedModel = make_folder("falcon-h1", folder)
        self.alone = [reference_answer(self.reference, prompt, ANSWER) for prompt in PROMPTS]
        self.runners: dict[tuple[int, int], ModelRunner] = {}

    def config(self, **changes) -> EngineConfig:
        return EngineConfig(
            **{"model": str(self.folder), "dtype": "float32", "num_threads": 1, **changes}
        )

    def driver(self, *, num_blocks: int = 32, max_states: int = 4, **scheduler) -> Driver:
        """A core of its own; runners, and with them what lies in their slots, are shared."""
        config = self.config(
            num_blocks=num_blocks,
            max_model_len=min(256, num_blocks * 16),
            max_states=max_states,
            scheduler=SchedulerConfig(**scheduler),
        )
        key = (num_blocks, max_states)
        if key not in self.runners:
            self.runners[key] = ModelRunner(config)
        return Driver(EngineCore(config, self.runners[key], [PromptLookup()]))


@pytest.fixture(scope="module")
def hybrid(tmp_path_factory) -> Hybrid:
    return Hybrid(tmp_path_factory.mktemp("hybrid"))


@settings(max_examples=12)
@given(
    begins=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 6), st.booleans()), min_size=2, max_size=6
    ),
    chunk=st.integers(3, 40),
    num_blocks=st.sampled_from([5, 32]),
    max_states=st.integers(1, 4),
)
def test_requests_that_join_finish_abort_and_are_preempted_answer_as_alone(
    hybrid, begins, chunk, num_blocks, max_states
):
    driver = hybrid.driver(
        num_blocks=num_blocks,
        max_states=max_states,
        max_num_seqs=4,
        max_num_batched_tokens=chunk,
        mixed_step_tokens=max(4, chunk // 2),
    )
    kept: dict[str, int] = {}
    for which, steps, is_aborted in begins:
        request_id = driver.add(PROMPTS[which], greedy(max_tokens=ANSWER, ignore_eos=True))
        for _ in range(steps):
            driver.step()
        if is_aborted:
            driver.core.abort([request_id])
        else:
            kept[request_id] = which
        assert driver.core.kv.states.num_used == driver.core.scheduler.num_running
    tokens = driver.run()
    assert driver.core.kv.states.num_used == 0
    for request_id, which in kept.items():
        assert tokens[request_id] == hybrid.alone[which]


def test_preempted_request_recomputes_its_state(hybrid):
    driver = hybrid.driver(num_blocks=5, max_num_seqs=4)
    ids = [driver.add(PROMPTS[2], greedy(max_tokens=30, ignore_eos=True)) for _ in range(2)]
    tokens = driver.run()
    assert driver.core.scheduler.preemptions > 0
    wanted = reference_answer(hybrid.reference, PROMPTS[2], 30)
    assert [tokens[i] for i in ids] == [wanted, wanted]


def test_requests_wait_for_a_state(hybrid):
    driver = hybrid.driver(max_states=1, max_num_seqs=4)
    ids = [driver.add(prompt, greedy(max_tokens=ANSWER, ignore_eos=True)) for prompt in PROMPTS]
    most = 0
    while driver.core.scheduler.has_work:
        driver.step()
        most = max(most, driver.core.scheduler.num_running)
    assert most == 1
    assert [driver.tokens[i] for i in ids] == hybrid.alone


def test_state_of_a_finished_request_is_not_seen_by_the_next(hybrid):
    driver = hybrid.driver(max_states=1)
    with torch.inference_mode():
        for cache in hybrid.runners[32, 1]._caches:
            for states in cache.states:
                states.fill_(1e6)
    assert (
        driver.generate(PROMPTS[1], greedy(max_tokens=ANSWER, ignore_eos=True)) == (hybrid.alone[1])
    )


def test_same_prompt_again_is_computed_again(hybrid):
    """Blocks hold no state: what is cached of a prompt cannot be gone on from."""
    driver = hybrid.driver()
    sampling = greedy(max_tokens=ANSWER, ignore_eos=True)
    assert driver.generate(PROMPTS[0], sampling) == driver.generate(PROMPTS[0], sampling)
    assert driver.cached["r2"] == 0


def test_nothing_is_drafted(hybrid):
    driver = hybrid.driver()
    repeated = [7, 8, 9, 10] * 8
    tokens = driver.generate(repeated, greedy(max_tokens=30, ignore_eos=True))
    assert driver.core.speculator.num_drafts == 0
    assert tokens == reference_answer(hybrid.reference, repeated, 30)


@pytest.mark.parametrize("options", [{"tensor_parallel": 2}, {"pipeline_parallel": 2}])
def test_several_ranks_are_refused_before_any_is_started(hybrid, options, monkeypatch):
    def start(*_):
        raise AssertionError("a rank was started")

    monkeypatch.setattr("inference.parallel.launch._start", start)
    with pytest.raises(ModelLoadError, match="falcon-h1 keeps states"):
        ModelRunner(hybrid.config(**options))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"swap_blocks": 4}, "--swap-blocks"),
        ({"prefill_from": "ipc:///tmp/none"}, "--prefill-from"),
        ({"max_states": 0}, "MB"),
    ],
)
def test_option_that_needs_blocks_to_hold_everything_is_refused_by_name(hybrid, options, reason):
    with pytest.raises(ModelLoadError, match=reason):
        ModelRunner(hybrid.config(num_blocks=32, **options))


def test_draft_model_is_refused(hybrid):
    hybrid.driver()
    config = hybrid.config(speculation=SpeculationConfig(draft_model=str(hybrid.folder)))
    with pytest.raises(ModelLoadError, match="--draft-model"):
        make_proposers(config, hybrid.runners[32, 4])
