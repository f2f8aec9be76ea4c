"""A hazard category is known in every place that could leave it out in silence."""

import pytest

from safety.judge.policy import PRESETS, Policy
from safety.score.classifier import classifier
from safety.taxonomy import LLAMA_GUARD_CODES, TO_OPENAI, Category

HAZARDS = set(Category) - {Category.PROMPT_INJECTION}


def test_every_category_says_which_of_openais_it_counts_for() -> None:
    assert set(TO_OPENAI) == set(Category)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_every_preset_says_what_is_done_about_every_category(preset: Policy) -> None:
    assert set(preset.actions) == set(preset.thresholds) == set(Category)


def test_shipped_weights_give_every_hazard_a_share() -> None:
    loaded = classifier()
    assert set(loaded.estimate(loaded.normalized("hello there")).categories) == HAZARDS


def test_codes_of_llama_guard_are_not_moved_by_a_new_category() -> None:
    codes = {"S1": "violent_crimes", "S4": "child_exploitation", "S14": "code_abuse"}
    assert {code: str(LLAMA_GUARD_CODES[code]) for code in codes} == codes
