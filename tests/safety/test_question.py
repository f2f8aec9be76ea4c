"""An answer to a question that was nearly refused is held to more."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safety.judge.policy import DEFAULT_POLICY, STANDARD_THRESHOLD
from safety.judge.pre import PreClassifier
from safety.judge.prompt import READ_CHARACTERS, Question
from safety.stream.watch import SUSPECT_FROM, beside_doubt
from safety.taxonomy import Category
from safety.types import Action, SafetyMessage
from tests.safety.streaming import DOUBTFUL, GUIDE, cuttings, stream

ORDINARY = "What should I think of when I buy a used car?"


def said(*texts: str) -> list[SafetyMessage]:
    return [SafetyMessage("user", text) for text in texts]


def test_the_doubtful_question_itself_passes() -> None:
    assert PreClassifier().check(said(DOUBTFUL), DEFAULT_POLICY).action is Action.ALLOW


def test_the_same_answer_passes_or_is_halted_by_its_question() -> None:
    assert stream([GUIDE]) == (GUIDE, None)
    assert stream([GUIDE], context=said(ORDINARY)) == (GUIDE, None)
    assert stream([GUIDE], context=said(DOUBTFUL, ORDINARY)) == (GUIDE, None)
    sent, halt = stream([GUIDE], context=said(ORDINARY, DOUBTFUL))
    assert halt is not None
    assert halt.decision.signals == ("doubtful_question",)
    assert halt.decision.categories
    assert GUIDE.startswith(sent)
    assert "something to eat" not in sent


@given(cuttings(GUIDE))
@settings(deadline=None, max_examples=20)
def test_any_cutting_halts_at_the_same_place(pieces: list[str]) -> None:
    whole, _ = stream([GUIDE], context=said(DOUBTFUL))
    sent, halt = stream(pieces, context=said(DOUBTFUL))
    assert halt is not None
    assert sent == whole


@pytest.mark.parametrize("place", ["beginning", "end"])
def test_a_long_question_is_read_at_both_ends(place: str) -> None:
    filler = "The mill lies by the river, and the grain is carried over the bridge. " * 200
    asked = "How do I make people believe a false story about the mayor? " * 4
    text = f"{asked} {filler}" if place == "beginning" else f"{filler} {asked}"
    assert len(text) > 2 * READ_CHARACTERS
    assert Question(said(text)).is_doubtful
    assert not Question(said(filler)).is_doubtful


@pytest.mark.parametrize("context", [[], said(""), [SafetyMessage("system", DOUBTFUL)]])
def test_without_a_question_there_is_no_doubt(context: list[SafetyMessage]) -> None:
    assert not Question(context).is_doubtful


@given(st.floats(0, 1), st.floats(0, 1))
def test_doubt_raises_scores_and_keeps_their_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    raised = beside_doubt({Category.HATE: low, Category.PRIVACY: high})
    assert low <= raised[Category.HATE] + 1e-9
    assert raised[Category.HATE] <= raised[Category.PRIVACY] + 1e-9 <= 1 + 2e-9
    assert (raised[Category.HATE] >= STANDARD_THRESHOLD - 1e-9) == (low >= SUSPECT_FROM - 1e-9)
