"""A model whose every layer has a window keeps the blocks of its window only."""

from __future__ import annotations

import pytest

from tests.inference.conftest import greedy, make_driver
from tests.inference.test_families import PROMPTS, make_folder, reference_answer

WINDOW, BLOCK = 9, 16


@pytest.mark.parametrize("options", [{}, {"max_num_batched_tokens": 23, "mixed_step_tokens": 11}])
def test_blocks_before_the_window_are_released_and_answers_stay_the_same(options, tmp_path):
    model = make_folder("mistral", tmp_path, sliding_window=WINDOW)
    driver = make_driver(tmp_path, **options)
    ids = [driver.add(prompt, greedy(max_tokens=100, ignore_eos=True)) for prompt in PROMPTS]
    used = []
    while driver.core.scheduler.has_work:
        driver.step()
        used.append(driver.core.kv.pool.num_used)
    # 150 and 105 tokens are 17 blocks; a window lies in two.
    assert max(used[-50:]) <= 4
    assert driver.core.kv.pool.num_used == 0
    for request_id, prompt in zip(ids, PROMPTS, strict=True):
        answer = driver.tokens[request_id]
        assert answer == reference_answer(model, prompt, 100, answer)


def test_released_blocks_are_found_again_by_another_request(tmp_path):
    make_folder("mistral", tmp_path, sliding_window=WINDOW)
    driver = make_driver(tmp_path)
    sampling = greedy(max_tokens=40, ignore_eos=True)
    first = driver.generate(PROMPTS[0], sampling)
    assert driver.generate(PROMPTS[0], sampling) == first
    assert driver.cached["r2"] == len(PROMPTS[0]) // BLOCK * BLOCK


def test_model_with_one_layer_that_sees_all_keeps_all_blocks(tmp_path):
    make_folder("qwen2-window", tmp_path)
    driver = make_driver(tmp_path)
    driver.add(PROMPTS[0], greedy(max_tokens=60, ignore_eos=True))
    for _ in range(50):
        driver.step()
    assert driver.core.kv.pool.num_used >= (len(PROMPTS[0]) + 45) // BLOCK
