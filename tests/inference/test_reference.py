"""Promise 5: greedy output is that of transformers in float32, token for token.

The engine answers every prompt alone, and in all other circumstances, as transformers did with the
same file; its answers are kept (reference_answers.py). At night it reads each prompt with its kept
answer in one pass, and its most likely token at every position must be the one that is kept: by
induction that is its own greedy answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from inference.kernels.cpu.decode import MAX_ROWS
from inference.text.tokenizer import TextTokenizer
from tests.inference.conftest import Driver, greedy
from tests.inference.reference_answers import NEW_TOKENS, QUESTIONS, kept_answers, prompts_of

pytestmark = pytest.mark.model

# Prose, arithmetic, code, three scripts, and two that share a long beginning.
FEW = (0, 1, 3, 4, 9, 15, 16, 20, 21)
ALONE = (0, 4, 9, 15, 20)
ALL = range(len(QUESTIONS))


def of_few_and_at_night_of_all(test: str, few: Sequence[int]) -> pytest.MarkDecorator:
    beside = f"tests/inference/test_reference.py::{test}"
    every = pytest.param(ALL, marks=pytest.mark.nightly(beside=beside))
    return pytest.mark.parametrize("which", [few, every], ids=["few", "all"])


@pytest.fixture(scope="module")
def prompts(tokenizer: TextTokenizer) -> list[list[int]]:
    return prompts_of(tokenizer)


@pytest.fixture(scope="module")
def expected() -> list[list[int]]:
    """What transformers answers."""
    return kept_answers()


@of_few_and_at_night_of_all("test_greedy_tokens_equal_the_reference_for_single_prompts", ALONE)
def test_greedy_tokens_equal_the_reference_for_single_prompts(make_core, prompts, expected, which):
    """Each prompt alone and without a prefix cache."""
    driver = Driver(make_core(prefix_cache=False))
    for index in which:
        answer = driver.generate(prompts[index], greedy(max_tokens=NEW_TOKENS))
        assert answer == expected[index]


@pytest.mark.nightly(
    beside="tests/inference/test_reference.py"
    "::test_greedy_tokens_equal_the_reference_for_single_prompts"
)
def test_kept_answers_are_those_of_transformers(reference_model, prompts, expected):
    for prompt, answer in zip(prompts, expected, strict=True):
        assert answer
        with torch.inference_mode():
            logits = reference_model(torch.tensor([prompt + answer])).logits[0]
        greedy_choice = logits[len(prompt) - 1 : -1].argmax(-1).tolist()
        assert greedy_choice == answer


@of_few_and_at_night_of_all("test_greedy_tokens_equal_the_reference_in_a_mixed_batch", FEW)
def test_greedy_tokens_equal_the_reference_in_a_mixed_batch(make_core, prompts, expected, which):
    """Long and short, beginning and going on, in the same steps, chunks of odd sizes."""
    core = make_core(max_num_batched_tokens=61, mixed_step_tokens=37)
    driver = Driver(core)
    ids = []
    for count, index in enumerate(which):
        ids.append(driver.add(prompts[index], greedy(max_tokens=NEW_TOKENS)))
        if count % 3 == 0:
            driver.step()
    tokens = driver.run()
    assert [tokens[i] for i in ids] == [expected[index] for index in which]


def test_greedy_tokens_equal_the_reference_in_small_chunks(make_core, prompts, expected):
    """So few that each of a prompt's tokens is a query alone, as a stream's is."""
    few = 12
    assert few <= MAX_ROWS
    driver = Driver(make_core(max_num_batched_tokens=few, mixed_step_tokens=few))
    ids = [driver.add(prompt, greedy(max_tokens=NEW_TOKENS)) for prompt in prompts[:3]]
    tokens = driver.run()
    assert [tokens[i] for i in ids] == expected[:3]


def test_greedy_tokens_equal_the_reference_beside_sampled_requests(make_core, prompts, expected):
    driver = Driver(make_core())
    ids = []
    for index, prompt in enumerate(prompts[:4]):
        ids.append(driver.add(prompt, greedy(max_tokens=NEW_TOKENS)))
        noisy = greedy(temperature=1.5, top_p=0.9, seed=index, repetition_penalty=1.3)
        driver.add(prompt[: 5 + index], noisy)
    tokens = driver.run()
    assert [tokens[i] for i in ids] == expected[:4]


def test_greedy_tokens_equal_the_reference_with_a_warm_prefix_cache(make_core, prompts, expected):
    driver = Driver(make_core())
    sampling = greedy(max_tokens=NEW_TOKENS)
    first = driver.add(prompts[-2], sampling)
    driver.run()
    second, again = driver.add(prompts[-1], sampling), driver.add(prompts[-2], sampling)
    tokens = driver.run()
    assert driver.cached[first] == 0
    assert driver.cached[second] >= 64, "the shared system prompt was not found"
    assert driver.cached[again] >= driver.cached[second]
    assert [tokens[first], tokens[second], tokens[again]] == [
        expected[-2],
        expected[-1],
        expected[-2],
    ]


@pytest.mark.parametrize(
    "prefix_cache",
    [
        True,
        pytest.param(
            False,
            marks=pytest.mark.nightly(
                beside="tests/inference/test_reference.py"
                "::test_greedy_tokens_equal_the_reference_through_preemptions"
            ),
        ),
    ],
)
def test_greedy_tokens_equal_the_reference_through_preemptions(
    make_core, prompts, expected, prefix_cache
):
    """Room for about two of five sequences: the others are preempted and recomputed."""
    core = make_core(num_blocks=9, prefix_cache=prefix_cache)
    driver = Driver(core)
    ids = [driver.add(prompt, greedy(max_tokens=NEW_TOKENS)) for prompt in prompts[:5]]
    tokens = driver.run()
    assert core.scheduler.preemptions > 0
    assert [tokens[i] for i in ids] == expected[:5]


def test_two_equal_prompts_in_one_step_share_blocks(make_core, prompts, expected):
    driver = Driver(make_core())
    sampling = greedy(max_tokens=NEW_TOKENS)
    first, second = driver.add(prompts[-1], sampling), driver.add(prompts[-1], sampling)
    tokens = driver.run()
    assert driver.cached[second] >= 64
    assert tokens[first] == tokens[second] == expected[-1]


def test_salts_keep_caches_apart(make_core, prompts):
    driver, once = Driver(make_core()), greedy(max_tokens=1)
    driver.add(prompts[-1], once, salt="one organization")
    driver.run()
    same = driver.add(prompts[-1], once, salt="one organization")
    other = driver.add(prompts[-1], once, salt="another organization")
    none = driver.add(prompts[-1], once)
    driver.run()
    assert driver.cached[same] > 0
    assert driver.cached[other] == 0
    assert driver.cached[none] == 0
