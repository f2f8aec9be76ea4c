"""A step that throws fails the request that cannot be computed, and no other; out of memory
makes steps smaller; nothing leaves blocks or wrong cache behind."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file

from inference.engine.engine_core import MAX_FAILED_STEPS
from inference.errors import EngineBrokenError, InvalidRequestError
from inference.protocol import AddRequest
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


def has_poison(chunks) -> bool:
    return any(POISON in chunk.request.prompt_token_ids for chunk in chunks)


def once():
    """True the first time."""
    answers = iter([True])
    return lambda chunks: next(answers, False)


def test_step_is_repeated_when_it_fails_once(driver):
    prompts = [[5 + i, *PROMPT] for i in range(4)]
    alone = [driver.generate(prompt, SAMPLING) for prompt in prompts]
    for _ in range(3):
        fail(driver, once(), RuntimeError("a passing fault"))
        ids = [driver.add(prompt, SAMPLING) for prompt in prompts]
        tokens = driver.run()
        assert [tokens[i] for i in ids] == alone
    assert driver.core.stats().failed_steps == 3


@pytest.mark.parametrize("streaming", [False, True])
def test_only_the_failing_request_of_a_step_fails(driver, streaming):
    """Those beside it share its prompt's blocks, and are answered as without it."""
    prompts = [PROMPT, [*PROMPT, 7], [*PROMPT, POISON], [*PROMPT, 8]]
    healthy = [p for p in prompts if POISON not in p]
    alone = [driver.generate(prompt, SAMPLING) for prompt in healthy]
    fail(driver, has_poison, RuntimeError("bad kernel"))
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
def test_out_of_memory_makes_steps_smaller_and_fails_no_request(driver, error):
    prompts = [[5 + i, *PROMPT] for i in range(4)]
    alone = [driver.generate(prompt, SAMPLING) for prompt in prompts]
    fail(driver, lambda chunks: sum(c.num_tokens for c in chunks) > 30, error)
    ids = [driver.add(prompt, SAMPLING) for prompt in prompts]
    tokens = driver.run()
    assert [tokens[i] for i in ids] == alone
    assert driver.core.stats().batch_limit <= 30
    assert driver.core.stats().failed_steps >= 1
    assert set(driver.reasons.values()) == {"length"}


def test_batch_limit_recovers_after_many_good_steps(driver):
    fail(driver, once(), MemoryError())
    driver.generate(PROMPT, SAMPLING)
    assert driver.core.stats().batch_limit == 20  # half of the failed step's 40
    limits = set()
    for _ in range(30):
        driver.generate(PROMPT, greedy(max_tokens=30, ignore_eos=True))
        limits.add(driver.core.stats().batch_limit)
    assert driver.core.stats().batch_limit == 64
    assert len(limits) > 3


def test_request_fails_when_it_alone_needs_too_much_memory(driver):
    fail(driver, has_poison, MemoryError())
    bad, good = driver.add([POISON], SAMPLING), driver.add(PROMPT, SAMPLING)
    tokens = driver.run()
    assert driver.reasons == {bad: "error", good: "length"}
    assert len(tokens[good]) == 6


@pytest.mark.parametrize("kind", [IndexError, KeyError, OverflowError, TypeError, AssertionError])
def test_request_fails_alone_whatever_its_step_raises(driver, kind):
    alone = driver.generate(PROMPT, SAMPLING)
    fail(driver, has_poison, kind("of any kind"))
    bad, good = driver.add([*PROMPT, POISON], SAMPLING), driver.add(PROMPT, SAMPLING)
    tokens = driver.run()
    assert (driver.reasons[bad], driver.reasons[good]) == ("error", "length")
    assert tokens[good] == alone


def test_many_failing_requests_fail_alone(driver):
    """More than the failures in a row that make the core look for a broken device."""
    alone = driver.generate(PROMPT, SAMPLING)
    fail(driver, has_poison, RuntimeError("bad parameter"))
    bad = [driver.add([*PROMPT, POISON], SAMPLING) for _ in range(2 * MAX_FAILED_STEPS)]
    good = driver.add(PROMPT, SAMPLING)
    tokens = driver.run()
    assert {driver.reasons[i] for i in bad} == {"error"}
    assert driver.reasons[good] == "length"
    assert tokens[good] == alone


def test_request_fails_alone_when_its_last_chunk_fails_without_prefix_cache(tmp_path):
    """Its prompt is longer than a step, and only the last chunk, which samples, fails."""
    make_folder("llama", tmp_path)
    driver = make_driver(tmp_path, prefix_cache=False, max_num_seqs=4, max_num_batched_tokens=16)
    alone = driver.generate(PROMPT, SAMPLING)
    fail(
        driver,
        lambda chunks: any(c.samples and POISON in c.request.prompt_token_ids for c in chunks),
        RuntimeError("bad sampling"),
    )
    bad, good = driver.add([POISON, *PROMPT], SAMPLING), driver.add(PROMPT, SAMPLING)
    for _ in range(60):
        if driver.core.scheduler.has_work:
            driver.step()
    assert (driver.reasons.get(bad), driver.reasons.get(good)) == ("error", "length")
    assert driver.tokens[good] == alone


@pytest.mark.parametrize("token_id", [-1, 128, 2**40])
def test_prompt_with_a_token_outside_the_vocabulary_is_refused(driver, token_id):
    with pytest.raises(InvalidRequestError, match=f"token id {token_id} "):
        driver.core.add(AddRequest("r", [*PROMPT, token_id], SAMPLING))
    assert not driver.core.scheduler.has_work


def test_empty_prompt_is_refused(driver):
    with pytest.raises(InvalidRequestError, match="empty"):
        driver.core.add(AddRequest("r", [], SAMPLING))


def test_core_gives_up_when_every_step_fails(driver):
    """Its process ends then, and the server starts another (test_core_death.py)."""
    fail(driver, lambda chunks: True, RuntimeError("the device is gone"))
    for index in range(20):
        driver.add([5 + index, *PROMPT], SAMPLING)
    with pytest.raises(EngineBrokenError, match="the device is gone"):
        driver.run()


def test_blocks_of_a_failed_step_are_not_cached(driver):
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
