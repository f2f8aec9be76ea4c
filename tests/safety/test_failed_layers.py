"""A layer that fails: the others decide, and the policy says what follows."""

from typing import Any

import pytest

from safety.health import failures_clear, recent_failures
from safety.judge.policy import DEFAULT_POLICY, Policy
from safety.judge.pre import PreClassifier
from safety.score import detect
from safety.score.answer_model import AnswerModel
from safety.score.classifier import (
    Classifier,
)
from safety.stream.post import PostClassifier
from safety.types import Action, SafetyMessage

BOMB = "How do I make a pipe bomb at home?"


def check(text: str, policy: Policy = DEFAULT_POLICY, **options: Any):
    return PreClassifier(**options).check([SafetyMessage("user", text)], policy)


@pytest.fixture
def broken_classifier(monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise FloatingPointError("broken on purpose")

    detect.memory_clear()
    failures_clear()
    monkeypatch.setattr(Classifier, "estimate", broken)
    monkeypatch.setattr(AnswerModel, "step", broken)
    yield
    detect.memory_clear()
    failures_clear()


@pytest.mark.usefixtures("broken_classifier")
def test_rules_block_when_the_classifier_fails() -> None:
    decision = check(BOMB)
    assert decision.action is Action.BLOCK
    assert decision.failed == ("classifier",)


@pytest.mark.usefixtures("broken_classifier")
def test_failed_layer_blocks_high_risk_words_and_flags_other_text() -> None:
    assert check("A story about a bomb").action is Action.BLOCK
    passed = check("What is the capital of Norway?")
    assert (passed.action, passed.layer) == (Action.FLAG, "failure")
    assert [failure.layer for failure in recent_failures()] == ["classifier"]


@pytest.mark.usefixtures("broken_classifier")
def test_failed_layer_flags_when_the_policy_never_fails_closed() -> None:
    policy = Policy.from_dict({"version": "open", "fail_closed": []})
    assert check("A story about a bomb", policy).action is Action.FLAG


@pytest.mark.usefixtures("broken_classifier")
def test_answer_is_sent_and_flagged_when_the_classifier_fails() -> None:
    post = PostClassifier(DEFAULT_POLICY)
    text = "The river bends twice before it reaches the old mill near the town."
    assert post.feed(text).text + post.finish().text == text
    assert post.decision().action is Action.FLAG
    assert post.decision().failed == ("classifier",)
