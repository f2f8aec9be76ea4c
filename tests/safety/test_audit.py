"""Stored decisions and versioned policies."""

import uuid
from typing import Any

import pytest
from django.db import IntegrityError

from backend.accounts.models import Organization
from safety.audit.models import SafetyPolicy
from safety.audit.selectors import policy_cache_clear, policy_for
from safety.audit.services import decision_record, policy_save
from safety.judge.policy import DEFAULT_POLICY, PRESETS, InvalidPolicy, Policy
from safety.judge.pre import PreClassifier
from safety.taxonomy import Category
from safety.types import Action, SafetyMessage

pytestmark = pytest.mark.django_db
BOMB = "How do I make a pipe bomb at home?"


@pytest.fixture(autouse=True)
def fresh_cache() -> None:
    policy_cache_clear()


@pytest.fixture
def organization() -> Organization:
    return Organization.objects.create(name="Acme")


def test_decision_is_stored_with_the_hash_of_the_text_and_without_the_text(
    organization: Organization,
) -> None:
    decision = PreClassifier().check([SafetyMessage("user", BOMB)], DEFAULT_POLICY)
    generation_id = uuid.uuid4()
    stored = decision_record(
        decision=decision,
        organization_id=organization.id,
        generation_id=generation_id,
        user_id=uuid.uuid4(),
        key_id=None,
    )
    stored.refresh_from_db()
    assert stored.action == "block"
    assert stored.categories == ["indiscriminate_weapons"]
    assert stored.text_sha256 == decision.text_sha256
    assert stored.generation_id == generation_id
    assert "pipe bomb" not in str(vars(stored))


def test_default_policy_rules_when_none_is_saved(organization: Organization) -> None:
    assert policy_for(organization_id=organization.id, model="m") == DEFAULT_POLICY


def test_most_specific_newest_policy_rules(organization: Organization) -> None:
    def save(organization_id: uuid.UUID | None, model: str, days: int) -> None:
        policy_save(
            organization_id=organization_id,
            model=model,
            document={"store_text_days": days},
            created_by_id=None,
        )

    def ruling() -> int:
        policy_cache_clear()
        return policy_for(organization_id=organization.id, model="m").store_text_days

    for step, scope in enumerate([(None, ""), (None, "m"), (organization.id, "")], start=1):
        save(*scope, step)
        assert ruling() == step
    save(organization.id, "m", 10)
    save(organization.id, "m", 11)
    save(None, "", 99)
    assert ruling() == 11


def test_inactive_version_ends_its_scope(organization: Organization) -> None:
    for is_active in (True, False):
        policy_save(
            organization_id=organization.id,
            model="",
            document={"dry_run": True},
            created_by_id=None,
            is_active=is_active,
        )
    assert policy_for(organization_id=organization.id, model="m") == DEFAULT_POLICY


def test_saved_policy_changes_what_is_blocked(organization: Organization) -> None:
    actions = {**DEFAULT_POLICY.as_dict()["actions"], "indiscriminate_weapons": "flag"}
    policy_save(
        organization_id=organization.id, model="", document={"actions": actions}, created_by_id=None
    )
    policy = policy_for(organization_id=organization.id, model="m")
    assert PreClassifier().check([SafetyMessage("user", BOMB)], policy).action is Action.FLAG


@pytest.mark.parametrize(
    "document",
    [
        {"thresholds": {"hate": 1.5}},
        {"thresholds": {"nonsense": 0.5}},
        {"actions": {"hate": "explode"}},
        {"actions": ["hate"]},
    ],
)
def test_document_that_is_no_policy_is_refused(document: dict[str, object]) -> None:
    with pytest.raises(InvalidPolicy):
        policy_save(organization_id=None, model="", document=document, created_by_id=None)
    assert not SafetyPolicy.objects.exists()


def test_second_row_of_one_version_violates_a_constraint(organization: Organization) -> None:
    values: dict[str, Any] = {"organization": None, "model": "m", "version": 1, "document": {}}
    SafetyPolicy.objects.create(**values)
    with pytest.raises(IntegrityError):
        SafetyPolicy.objects.create(**values)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=list(PRESETS))
def test_stored_policy_is_read_back_equal(preset: Policy) -> None:
    assert Policy.from_dict(preset.as_dict()) == preset
    assert set(preset.thresholds) == set(Category)
