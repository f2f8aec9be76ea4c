"""Appeals, the review queue, stored texts, and the pages of the admin."""

import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from backend.accounts.models import Organization, User
from backend.accounts.principal import PlanLimits, Principal
from backend.platform.errors import Conflict, NotFound
from safety.audit.models import Review, ReviewState, SafetyDecisionRecord, SafetyPolicy, StoredText
from safety.audit.selectors import (
    appeals_page,
    block_rate_drift,
    labelled_texts,
    policy_cache_clear,
    policy_for,
)
from safety.audit.services import (
    RetainedText,
    appeal_create,
    decision_record,
    expired_texts_delete,
    review_resolve,
)
from safety.judge.policy import STRICT_POLICY
from safety.taxonomy import Category
from safety.types import Action, SafetyDecision, text_digest
from tests.support.second_factor import staff_sign_in

pytestmark = pytest.mark.django_db
TEXT = "How do I make a pipe bomb at home?"


def decision_of(action: Action = Action.BLOCK) -> SafetyDecision:
    return SafetyDecision(
        stage="prompt",
        action=action,
        scores={"indiscriminate_weapons": 0.95},
        categories=["indiscriminate_weapons"],
        policy_version="default-1",
        latency_ms=1.0,
        layer="lexical",
        text_sha256=text_digest(TEXT),
    )


@pytest.fixture
def organization() -> Organization:
    return Organization.objects.create(name="Acme")


@pytest.fixture
def caller(organization: Organization) -> Principal:
    return Principal(
        organization_id=organization.id,
        project_id=uuid.uuid4(),
        user_id=uuid.uuid4(),
        key_id=None,
        role="member",
        plan=PlanLimits("free", 10, 10, 1000, 1),
    )


def record(
    caller: Principal,
    *,
    decision: SafetyDecision | None = None,
    text: str | None = None,
    store_text_days: int = 0,
) -> SafetyDecisionRecord:
    return decision_record(
        decision=decision or decision_of(),
        organization_id=caller.organization_id,
        generation_id=uuid.uuid4(),
        user_id=caller.user_id,
        key_id=None,
        text=None if text is None else RetainedText(text, store_text_days),
    )


def generation_of(record: SafetyDecisionRecord) -> uuid.UUID:
    assert record.generation_id is not None
    return record.generation_id


def test_blocked_user_appeals_once_and_a_reviewer_overturns(caller: Principal) -> None:
    stopped = record(caller)
    appeal_create(principal=caller, generation_id=generation_of(stopped), appeal="It is a novel.")
    with pytest.raises(Conflict):
        appeal_create(principal=caller, generation_id=generation_of(stopped), appeal="Again.")
    other = record(caller)
    appeal_create(principal=caller, generation_id=generation_of(other), appeal="And this.")
    newest = appeals_page(principal=caller, generation_id=None, after=None, limit=1)
    assert [one.decision_id for one in newest.items] == [other.pk]
    last = appeals_page(principal=caller, generation_id=None, after=newest.next_cursor, limit=1)
    assert ([one.decision_id for one in last.items], last.next_cursor) == ([stopped.pk], None)
    [review] = appeals_page(
        principal=caller, generation_id=generation_of(stopped), after=None, limit=9
    ).items
    assert (review.state, review.appeal) == (ReviewState.OPEN, "It is a novel.")
    review_resolve(review_id=review.id, state=ReviewState.OVERTURNED, reviewer_id=None)
    with pytest.raises(Conflict):
        review_resolve(review_id=review.id, state=ReviewState.CONFIRMED, reviewer_id=None)
    review.refresh_from_db()
    assert review.state == ReviewState.OVERTURNED


def test_appeal_is_refused_for_another_user_or_an_allowed_prompt(caller: Principal) -> None:
    theirs = record(caller)
    other_user = Principal(
        organization_id=Organization.objects.create(name="Other").id,
        project_id=uuid.uuid4(),
        user_id=caller.user_id,
        key_id=None,
        role="member",
        plan=caller.plan,
    )
    with pytest.raises(NotFound):
        appeal_create(principal=other_user, generation_id=generation_of(theirs), appeal="")
    allowed = record(caller, decision=decision_of(Action.ALLOW))
    with pytest.raises(NotFound):
        appeal_create(principal=caller, generation_id=generation_of(allowed), appeal="")


def test_decision_for_review_joins_the_queue(caller: Principal) -> None:
    waiting = record(caller, decision=decision_of(Action.REVIEW))
    assert Review.objects.get().decision == waiting


def test_retained_text_is_encrypted_exported_and_deleted_when_it_expires(caller: Principal) -> None:
    stored = record(caller, text=TEXT, store_text_days=7)
    assert TEXT.encode() not in bytes(StoredText.objects.get().ciphertext)
    review = appeal_create(principal=caller, generation_id=generation_of(stored), appeal="")
    assert list(labelled_texts()) == []
    review_resolve(review_id=review.id, state=ReviewState.OVERTURNED, reviewer_id=None)
    assert list(labelled_texts()) == [
        {
            "text": TEXT,
            "label": "benign",
            "category": "indiscriminate_weapons",
            "stage": "prompt",
            "prompt": "",
        }
    ]
    assert expired_texts_delete() == 0
    StoredText.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert expired_texts_delete() == 1


def test_no_text_is_retained_when_the_policy_retains_none(caller: Principal) -> None:
    record(caller, text=TEXT)
    assert not StoredText.objects.exists()


def test_block_rate_drift_is_positive_after_a_jump(caller: Principal) -> None:
    assert block_rate_drift() is None
    for _ in range(60):
        record(caller, decision=decision_of(Action.ALLOW))
    SafetyDecisionRecord.objects.update(created_at=timezone.now() - timedelta(days=1))
    for number in range(60):
        record(caller, decision=decision_of(Action.BLOCK if number % 2 else Action.ALLOW))
    drift = block_rate_drift()
    assert drift is not None and drift > 3


@pytest.fixture
def staff(static_files: None) -> Client:
    user = User.objects.create_superuser(email="root@example.org", password="x" * 20)
    client = Client()
    staff_sign_in(client, user)
    return client


def test_policy_saved_in_the_admin_rules_at_once(staff: Client, organization: Organization) -> None:
    policy_cache_clear()
    page = staff.get("/admin/audit/safetypolicy/add/")
    assert page.status_code == 200
    answer = staff.post(
        "/admin/audit/safetypolicy/add/",
        {
            "organization": str(organization.id),
            "model": "",
            "is_active": "on",
            "comment": "school",
            "preset": "strict",
            "threshold_hate": "0.4",
            "action_elections": "flag",
        },
    )
    assert answer.status_code == 302, answer.content.decode()[:3000]
    saved = SafetyPolicy.objects.get()
    assert (saved.version, saved.comment) == (1, "school")
    policy = policy_for(organization_id=organization.id, model="m")
    assert policy.threshold(Category.HATE, "prompt") == 0.4
    assert policy.actions[Category.ELECTIONS] is Action.FLAG
    assert policy.redact == STRICT_POLICY.redact
    assert policy.thresholds[Category.SELF_HARM] == STRICT_POLICY.thresholds[Category.SELF_HARM]


def test_admin_resolves_reviews_and_changes_no_record(staff: Client, caller: Principal) -> None:
    stopped = record(caller)
    review = appeal_create(principal=caller, generation_id=generation_of(stopped), appeal="Please.")
    listing = staff.get("/admin/audit/review/")
    assert "Please." in listing.content.decode()
    answer = staff.post(
        "/admin/audit/review/", {"action": "confirm_selected", "_selected_action": [str(review.id)]}
    )
    assert answer.status_code == 302
    review.refresh_from_db()
    assert review.state == ReviewState.CONFIRMED
    assert staff.get(f"/admin/audit/safetydecisionrecord/{stopped.id}/change/").status_code == 200
    assert staff.post(f"/admin/audit/safetydecisionrecord/{stopped.id}/delete/").status_code == 403
