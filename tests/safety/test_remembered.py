"""Evidence is remembered for its owner alone: how long a check takes says nothing of others."""

from dataclasses import replace
from uuid import uuid4

import pytest

from safety.audit.selectors import policy_for
from safety.judge import pre
from safety.judge.policy import DEFAULT_POLICY, Policy
from safety.score.detect import Evidence, examine, examine_untrusted
from safety.types import SafetyMessage

TEXT = "What did the council decide about the new bridge on Monday?"


def test_evidence_is_found_again_by_its_owner_and_by_no_other() -> None:
    found = examine(TEXT, "prompt", owner="a")
    assert examine(TEXT, "prompt", owner="a") is found
    assert examine(TEXT, "prompt", owner="b") is not found
    assert examine(TEXT, "output", owner="a") is not found
    orders = examine_untrusted(TEXT, owner="a")
    assert examine_untrusted(TEXT, owner="a") is orders
    assert examine_untrusted(TEXT, owner="b") is not orders


def test_evidence_without_an_owner_is_not_remembered() -> None:
    assert examine(TEXT, "prompt") is not examine(TEXT, "prompt")
    assert examine_untrusted(TEXT) is not examine_untrusted(TEXT)


@pytest.mark.django_db
def test_policy_names_the_organization_that_it_rules() -> None:
    for organization in (uuid4(), uuid4()):
        policy = policy_for(organization_id=organization, model="any")
        assert policy.owner == str(organization)
        assert policy == DEFAULT_POLICY
        assert "owner" not in policy.as_dict()


def test_every_text_of_a_prompts_check_is_its_policys_owners(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owners: list[str | None] = []

    def seen(text: str, stage: str = "", *, owner: str | None = None) -> Evidence:
        owners.append(owner)
        return Evidence()

    monkeypatch.setattr(pre, "examine", seen)
    monkeypatch.setattr(pre, "examine_untrusted", seen)
    policy: Policy = replace(DEFAULT_POLICY, owner="a")
    messages = [
        SafetyMessage("user", "first"),
        SafetyMessage("tool", TEXT),
        SafetyMessage("user", TEXT),
    ]
    pre.PreClassifier().check(messages, policy)
    assert len(owners) >= 4
    assert set(owners) == {"a"}
