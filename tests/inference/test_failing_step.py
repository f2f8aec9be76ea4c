"""A step that throws fails the request that cannot be computed, and no other; out of memory
makes steps smaller; nothing leaves blocks or wrong cache behind."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file

from inference.errors import EngineBrokenError
from tests.inference.conftest import Driver, greedy
from tests.inference.test_families import make_driver, make_folder

PROMPT = [(11 * i) % 100 + 3 for i in range(40)]
POISON = 120
SAMPLING = greedy(max_tokens=6, ignore_eos=True)


class Failing:
    """A runner that fails the steps that `fails` points out, after it wrote to the cache."""

    def __init__(self, runner, fails, error: Exception) -> None:
        self._runner = runner
        self._fails = fails
        self._error = error

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def execute(self, chunks):
        results = self._runner.execute(chunks)
        if self._fails(chunks):
            raise self._error
        return results


@pytest.fixture
def driver(tmp_path) -> Driver:
    make_folder("llama", tmp_path)
    return make_driver(tmp_path, max_num_seqs=4, max_num_batched_tokens=64)


def fail(driver: Driver, fails, error: Exception) -> None:
    driver.core.runner = Failing(driver.core.runner, fails, error)


def once():
    """True the first time."""
    answers = iter([True])
    return lambda chunks: next(answers, False)


def test_a_step_that_fails_once_is_done_again(driver):
    prompts = [[5 + i, *PROMPT] for i in range(4)]
    alone = [driver.generate(prompt, SAMPLING) for prompt in prompts]
    for _ in range(3):
        fail(driver, once(), RuntimeError("a passing fault"))
        ids = [driver.add(prompt, SAMPLING) for prompt in prompts]
        tokens = driver.run()
        assert [tokens[i] for i in ids] == alone
    assert driver.core.stats().failed_steps == 3


@pytest.mark.parametrize("streaming", [False, True])
def test_only_the_request_that_cannot_be_computed_fails(driver, streaming):
    """Those beside it share its prompt's blocks, and are answered as without it."""
    prompts = [PROMPT, [*PROMPT, 7], [*PROMPT, POISON], [*PROMPT, 8]]
    healthy = [p for p in prompts if POISON not in p]
    alone = [driver.generate(prompt, SAMPLING) for prompt in healthy]
    fail(
        driver,
        lambda chunks: any(POISON in c.request.prompt_token_ids for c in chunks),
        RuntimeError("bad kernel"),
    )
    ids = []
    for prompt in prompts:
        ids.append(driver.add(prompt, SAMPLING))
        if streaming:
            driver.step()
    tokens = driver.run()
    poisoned = ids.pop(2)
    assert driver.reasons[poisoned] == "error"
    assert [tokens[i] for i in ids] == alone
    assert {driver.reasons[i] for i in ids} == {"length"}
    again = driver.add(PROMPT, SAMPLING)
    assert driver.run()[again] == alone[0], "the cache holds what was never computed"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"),
    ],
)
def test_out_of_memory_makes_steps_smaller_and_fails_nobody(driver, error):
    prompts = [[5 + i, *PROMPT] for i in range(4)]
    alone = [driver.generate(prompt, SAMPLING) for prompt in prompts]
    fail(driver, lambda chunks: sum(c.num_tokens for c in chunks) > 30, error)
    ids = [driver.add(prompt, SAMPLING) for prompt in prompts]
    tokens = driver.run()
    assert [tokens[i] for i in ids] == alone
    assert driver.core.stats().batch_limit <= 30
    assert driver.core.stats().failed_steps >= 1
    assert set(driver.reasons.values()) == {"length"}


def test_the_limit_recovers_slowly(driver):
    fail(driver, once(), MemoryError())
    driver.generate(PROMPT, SAMPLING)
    assert driver.core.stats().batch_limit == 20  # half of the failed step's 40
    limits = set()
    for _ in range(30):
        driver.generate(PROMPT, greedy(max_tokens=30, ignore_eos=True))
        limits.add(driver.core.stats().batch_limit)
    assert driver.core.stats().batch_limit == 64
    assert len(limits) > 3


def test_a_request_that_alone_needs_too_much_memory_fails(driver):
    fail(
        driver,
        lambda chunks: any(POISON in c.request.prompt_token_ids for c in chunks),
        MemoryError(),
    )
    bad, good = driver.add([POISON], SAMPLING), driver.add(PROMPT, SAMPLING)
    tokens = driver.run()
    assert driver.reasons == {bad: "error", good: "length"}
    assert len(tokens[good]) == 6


def test_when_every_step_fails_the_core_gives_up(driver):
    """Its process ends then, and the server starts another (test_core_death.py)."""
    fail(driver, lambda chunks: True, RuntimeError("the device is gone"))
    for index in range(20):
        driver.add([5 + index, *PROMPT], SAMPLING)
    with pytest.raises(EngineBrokenError, match="the device is gone"):
        driver.run()


def test_blocks_of_a_failed_step_are_not_found_again(driver):
    fail(driver, lambda chunks: True, RuntimeError("bad kernel"))
    driver.add(PROMPT)
    driver.step()
    assert driver.core.kv.pool.cached() == {}
    assert driver.core.kv.pool.num_used == 0


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_request_whose_logits_are_not_numbers_fails_alone(tmp_path, temperature):
    """A weight that is NaN, as after a bad download, is met by one prompt only."""
    make_folder("llama", tmp_path)
    for file in tmp_path.glob("*.safetensors"):
        tensors = load_file(file)
        if (embedding := tensors.get("model.embed_tokens.weight")) is not None:
            embedding[POISON] = torch.nan
            save_file(tensors, file, metadata={"format": "pt"})
    driver = make_driver(tmp_path)
    sampling = greedy(max_tokens=4, ignore_eos=True, logit_bias={POISON: -100.0})
    alone = driver.generate(PROMPT, sampling)
    noisy = greedy(max_tokens=4, temperature=temperature)
    bad = driver.add([*PROMPT[:9], POISON], noisy)
    good = driver.add(PROMPT, sampling)
    tokens = driver.run()
    assert driver.reasons[bad] == "error"
    assert tokens[bad] == []
    assert tokens[good] == alone
