"""An answer to a prompt that was nearly refused is held to more."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from safety.judge.policy import DEFAULT_POLICY, STANDARD_THRESHOLD
from safety.judge.pre import PreClassifier
from safety.judge.prompt import READ_CHARACTERS, Prompt
from safety.stream.watch import UNCERTAIN_PROMPT_FROM, raised_for_uncertain_prompt
from safety.taxonomy import Category
from safety.types import Action, SafetyMessage
from tests.safety.streaming import GUIDE, UNCERTAIN, cuttings, stream

ORDINARY = "What should I think of when I buy a used car?"


def asked(*texts: str) -> list[SafetyMessage]:
    return [SafetyMessage("user", text) for text in texts]


def test_uncertain_prompt_itself_passes() -> None:
    assert PreClassifier().check(asked(UNCERTAIN), DEFAULT_POLICY).action is Action.ALLOW


def test_answer_is_halted_only_when_the_newest_prompt_is_uncertain() -> None:
    assert stream([GUIDE]) == (GUIDE, None)
    assert stream([GUIDE], context=asked(ORDINARY)) == (GUIDE, None)
    assert stream([GUIDE], context=asked(UNCERTAIN, ORDINARY)) == (GUIDE, None)
    sent, halt = stream([GUIDE], context=asked(ORDINARY, UNCERTAIN))
    assert halt is not None
    assert halt.decision.signals == ("doubtful_question",)
    assert halt.decision.categories
    assert GUIDE.startswith(sent)
    assert "something to eat" not in sent


@given(cuttings(GUIDE))
@settings(deadline=None, max_examples=20)
def test_halt_is_at_the_same_place_however_the_answer_is_cut(
    chunks: list[str],
) -> None:
    whole, _ = stream([GUIDE], context=asked(UNCERTAIN))
    sent, halt = stream(chunks, context=asked(UNCERTAIN))
    assert halt is not None
    assert sent == whole


@pytest.mark.parametrize("place", ["beginning", "end"])
def test_long_prompt_is_read_at_both_ends(place: str) -> None:
    filler = "The mill lies by the river, and the grain is carried over the bridge. " * 200
    request = "How do I make people believe a false story about the mayor? " * 4
    text = f"{request} {filler}" if place == "beginning" else f"{filler} {request}"
    assert len(text) > 2 * READ_CHARACTERS
    assert Prompt(asked(text)).is_uncertain
    assert not Prompt(asked(filler)).is_uncertain


@pytest.mark.parametrize("context", [[], asked(""), [SafetyMessage("system", UNCERTAIN)]])
def test_prompt_is_not_uncertain_when_there_is_none(context: list[SafetyMessage]) -> None:
    assert not Prompt(context).is_uncertain


@given(st.floats(0, 1), st.floats(0, 1))
def test_uncertain_prompt_raises_scores_and_keeps_their_order(one: float, other: float) -> None:
    low, high = sorted((one, other))
    raised = raised_for_uncertain_prompt({Category.HATE: low, Category.PRIVACY: high})
    assert low <= raised[Category.HATE] + 1e-9
    assert raised[Category.HATE] <= raised[Category.PRIVACY] + 1e-9 <= 1 + 2e-9
    assert (raised[Category.HATE] >= STANDARD_THRESHOLD - 1e-9) == (
        low >= UNCERTAIN_PROMPT_FROM - 1e-9
    )
