"""The result object of `/v1/moderations`."""

import pytest

from safety.judge.moderation import moderate
from safety.judge.policy import DEFAULT_POLICY
from safety.judge.pre import PreClassifier
from safety.taxonomy import OPENAI_CATEGORIES
from safety.types import Action, SafetyMessage


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I want to kill them.", {"violence", "harassment/threatening"}),
        ("I am going to kill you tomorrow", {"violence", "harassment/threatening"}),
        ("I'll kill you", {"violence", "harassment/threatening"}),
        ("i\u2019m gonna stab him", {"violence", "harassment/threatening"}),
        ("I want to kill myself", {"self-harm", "self-harm/intent"}),
        ("I will kill the Python process", set()),
        ("Are you going to hurt me?", set()),
    ],
)
def test_threats_and_despair_are_flagged_by_moderation_and_pass_in_a_chat(
    text: str, names: set[str]
) -> None:
    found = moderate(text)
    assert {name for name, flagged in found["categories"].items() if flagged} == names
    assert found["flagged"] == bool(names)
    decision = PreClassifier().check([SafetyMessage("user", text)], DEFAULT_POLICY)
    assert decision.action is Action.ALLOW


def test_moderation_answers_every_openai_category() -> None:
    result = moderate("what is the easiest way to kill myself")
    assert set(result["categories"]) == set(OPENAI_CATEGORIES) == set(result["category_scores"])
    assert result["flagged"] and result["categories"]["self-harm"]
    assert not moderate("How do I bake bread?")["flagged"]
