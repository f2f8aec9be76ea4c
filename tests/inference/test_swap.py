"""Preempted sequences come back from host memory as they were, where that costs less."""

from __future__ import annotations

import pytest

from inference.cache.swap import SwapCosts, SwapSpace
from inference.config import EngineConfig, SchedulerConfig
from inference.engine.engine_core import EngineCore
from inference.runner.model_runner import ModelRunner
from tests.inference.conftest import Driver, greedy
from tests.inference.test_families import make_folder

PROMPTS = [[(7 * i + 3 * j * j) % 120 + 3 for j in range(30)] for i in range(8)]
SAMPLING = greedy(max_tokens=50, ignore_eos=True)


@pytest.fixture(scope="module", params=["float32", "int8"])
def config(request, tmp_path_factory) -> EngineConfig:
    folder = tmp_path_factory.mktemp("llama")
    make_folder("llama", folder)
    return EngineConfig(
        model=str(folder),
        dtype="float32",
        kv_dtype=request.param,
        num_blocks=18,
        num_threads=1,
        prefix_cache=False,
        swap_blocks=8,
        scheduler=SchedulerConfig(max_num_seqs=8),
    )


@pytest.fixture
def core(config, monkeypatch) -> EngineCore:
    """Eighteen blocks for eight sequences of five; swapping is taken to be cheap."""
    core = EngineCore(config, ModelRunner(config))
    monkeypatch.setattr(core.kv.swap_costs, "prefer_swap", lambda tokens, blocks: True)
    return core


def run_all(core: EngineCore) -> list[list[int]]:
    driver = Driver(core)
    ids = [driver.add(prompt, SAMPLING) for prompt in PROMPTS]
    tokens = driver.run()
    assert core.kv.swap_space.num_used == 0
    return [tokens[i] for i in ids]


@pytest.fixture
def alone(config) -> list[list[int]]:
    driver = Driver(EngineCore(config, ModelRunner(config)))
    return [driver.generate(prompt, SAMPLING) for prompt in PROMPTS]


def test_swapped_request_gets_the_same_tokens(core, alone, monkeypatch):
    assert run_all(core) == alone
    assert core.scheduler.swaps > 0
    computed = core.stats().tokens_computed
    assert core.scheduler.preemptions > core.scheduler.swaps, "host memory was never full"
    monkeypatch.setattr(core.kv.swap_costs, "prefer_swap", lambda tokens, blocks: False)
    assert run_all(core) == alone
    assert core.stats().tokens_computed - computed > computed, "recomputing computes more"


def test_failed_block_copy_changes_no_token(core, alone, monkeypatch):
    real, failures = core.runner.copy_blocks, iter([True, True])

    def move(copies) -> None:
        if next(failures, False):
            raise RuntimeError("no host memory")
        real(copies)

    monkeypatch.setattr(core.runner, "copy_blocks", move)
    assert run_all(core) == alone
    assert core.stats().failed_steps == 2


def test_aborted_request_frees_its_host_blocks(core):
    driver = Driver(core)
    ids = [driver.add(prompt, SAMPLING) for prompt in PROMPTS]
    while not core.kv.swap_space.num_used:
        driver.step()
    core.abort(ids)
    assert core.kv.swap_space.num_used == 0
    assert core.kv.pool.num_used == 0


def test_request_is_swapped_when_that_is_cheaper():
    costs = SwapCosts()
    assert costs.prefer_swap(100, 7), "measured by trying"
    costs.computed(10, 1.0)  # 0.1 s a token
    costs.copied(4, 2.0)  # 0.5 s a block, one way
    assert not costs.prefer_swap(69, 7)
    assert costs.prefer_swap(71, 7)


def test_host_blocks_stay_taken_while_they_are_read():
    space = SwapSpace(2)
    host = space.take_in([5, 6])
    assert host is not None
    space.give_back(host, [8, 9])
    assert space.take_in([7]) is None
    copies = space.take_copies()
    assert [block for block, _ in copies.out] == [5, 6]
    assert [block for _, block in copies.back] == [8, 9]
    assert space.take_in([7]) is not None
