"""The weights of the model router are those of the kept answers, and weigh what is served."""

import math
from hashlib import sha256

import pytest

from backend.generation.admission import difficulty
from backend.generation.admission.difficulty import WORD_ROWS, signs_of, word_rows
from infra.model_router.collect import ANSWERS, read
from infra.model_router.prompts import Check, prompts


def test_weights_are_of_the_kept_answers() -> None:
    weights = difficulty._weights()
    assert weights.made_of == sha256(ANSWERS.read_bytes()).hexdigest()
    assert (len(weights.signs), len(weights.words)) == (len(signs_of("")), WORD_ROWS)


def test_answers_are_of_the_prompts_as_they_are() -> None:
    assert [(one.kind, one.text) for one in read()] == [(one.kind, one.text) for one in prompts()]


def test_difficulty_orders_what_it_was_trained_on() -> None:
    hard: list[float] = []
    easy: list[float] = []
    for one in read():
        (easy if one.small.is_right else hard).append(difficulty.difficulty(one.text))
    right = sum(a > b for a in hard for b in easy) / (len(hard) * len(easy))
    assert right > 0.85


def test_words_are_weighed_by_their_number() -> None:
    """Of one word alone the weight is the whole; of n each counts by the root of n."""
    weights = difficulty._weights()
    [row] = word_rows("hello")
    signs = sum(w * s for w, s in zip(weights.signs, signs_of("hello"), strict=True))
    logit = weights.bias + signs + weights.words[row]
    assert difficulty.difficulty("hello") == pytest.approx(1 / (1 + math.exp(-logit)))


def check_of(text: str) -> Check:
    return next(one.is_right for one in prompts() if one.text == text)


@pytest.mark.parametrize(
    ("asked", "right", "wrong"),
    [
        ("What is the capital of France?", "It is Paris.", "It is Parisian."),
        ("Hello!", "Hello! How can I help you?", "Hi there. Hi there."),
        ("Write about bread in fewer than 30 words.", "Bread is good with salt.", "bread " * 40),
        ("Spell the word market backwards.", "It is tekram.", "tekrma"),
    ],
)
def test_checks_tell_right_from_wrong(asked: str, right: str, wrong: str) -> None:
    assert check_of(asked)(right) and not check_of(asked)(wrong)
