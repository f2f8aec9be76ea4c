"""An answer that is continued from its first tokens is the one that was begun."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.core import SamplingParams
from tests.inference.conftest import make_driver
from tests.inference.test_families import PROMPTS, make_folder

TOKENS, BEGUN = 30, 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("llama")
    make_folder("llama", path)
    return path


@pytest.mark.parametrize(
    "penalties",
    [{}, {"presence_penalty": 1.5}, {"frequency_penalty": 0.7, "repetition_penalty": 1.3}],
    ids=["none", "presence", "frequency"],
)
def test_continued_answer_draws_the_same_numbers_and_keeps_its_penalties(penalties, folder):
    driver = make_driver(folder, prefix_cache=False)
    sampling = {"temperature": 1.2, "seed": 7, "ignore_eos": True, **penalties}
    whole = driver.generate(PROMPTS[0], SamplingParams(max_tokens=TOKENS, **sampling))
    rest = driver.generate(
        PROMPTS[0] + whole[:BEGUN],
        SamplingParams(max_tokens=TOKENS - BEGUN, continued_tokens=BEGUN, **sampling),
    )
    assert rest == whole[BEGUN:]
    unaware = driver.generate(
        PROMPTS[0] + whole[:BEGUN], SamplingParams(max_tokens=TOKENS - BEGUN, **sampling)
    )
    assert unaware != rest
