"""Retention, legal holds and the training opt-out, over everything that purges or exports."""

from datetime import timedelta

import pytest
from django.utils import timezone

from backend.accounts.data_policy import (
    DataRules,
    ReuseRules,
    answer_reuse_set,
    data_policy_set,
    data_rules_clear,
    data_rules_of,
    training_set,
)
from backend.accounts.legal_hold import legal_hold_begin, legal_hold_end, refuse_held
from backend.accounts.models import AnswerCache, DataPolicy
from backend.accounts.principal import Principal
from backend.audit.models import AuditEvent
from backend.conversations.feedback import feedback_set, rated_answers
from backend.conversations.models import Conversation
from backend.conversations.purge import deleted_conversations_purge, overdue_conversations_purge
from backend.platform.errors import Conflict, InvalidRequest, LegallyHeld, PermissionDenied
from safety.audit.models import Review, ReviewState, SafetyDecisionRecord, StoredText
from safety.audit.selectors import labelled_texts
from safety.audit.services import RetainedText, decision_record, expired_texts_delete
from safety.types import Action, SafetyDecision
from tests.conversations.message_trees import finished_turns
from tests.factories import MessageFactory, conversation_of, member

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_cached() -> None:
    data_rules_clear()


def keep(principal: Principal, days: int | None, **changes: bool) -> None:
    flags = {"stores_api_calls": True, "allows_training": True, **changes}
    data_policy_set(principal=principal, retention_days=days, **flags)


def test_policy_is_the_owners_and_bounded() -> None:
    principal = member()
    assert data_rules_of(principal.organization_id, principal.project_id) == DataRules(None, True)
    for days in (-1, 4000):
        with pytest.raises(InvalidRequest) as refused:
            keep(principal, days)
        assert refused.value.param == "retention_days"
    keep(principal, 7, stores_api_calls=False)
    rules = data_rules_of(principal.organization_id, principal.project_id)
    assert (rules.retention_days, rules.call_days()) == (7, 0)
    colleague = member(role="member")
    with pytest.raises(PermissionDenied):
        keep(colleague, 0)
    assert not DataPolicy.objects.filter(pk=colleague.organization_id).exists()


def test_reuse_of_answers_is_the_owners_bounded_and_in_the_audit_log() -> None:
    principal = member()
    place = (principal.organization_id, principal.project_id)
    assert data_rules_of(*place).reuse == ReuseRules(shares_running=True, cache=AnswerCache.OFF)
    for seconds in (59, 604_801):
        with pytest.raises(InvalidRequest) as refused:
            answer_reuse_set(
                principal=principal, rules=ReuseRules(cache=AnswerCache.EXACT, lifetime_s=seconds)
            )
        assert refused.value.param == "answer_cache_s"
    rules = ReuseRules(False, AnswerCache.EXACT, 60, True)
    answer_reuse_set(principal=principal, rules=rules)
    assert data_rules_of(*place).reuse == rules
    event = AuditEvent.objects.get(organization_id=principal.organization_id)
    assert event.action == "answer_reuse.updated"
    assert event.details["answer_cache"] == "exact"
    colleague = member(role="member")
    with pytest.raises(PermissionDenied):
        answer_reuse_set(principal=colleague, rules=rules)


def test_chats_go_when_their_organization_keeps_them_no_longer() -> None:
    principal, other = member(), member()
    now = timezone.now()
    aged = conversation_of(principal, updated_at=now - timedelta(days=8))
    fresh = conversation_of(principal, updated_at=now - timedelta(days=6))
    others = conversation_of(other, updated_at=now - timedelta(days=800))
    keep(principal, 7)
    assert overdue_conversations_purge() == 1
    assert set(Conversation.objects.values_list("pk", flat=True)) == {fresh.pk, others.pk}
    assert not Conversation.objects.filter(pk=aged.pk).exists()

    keep(principal, 0)
    answering = conversation_of(principal, updated_at=now)
    MessageFactory.create(conversation=answering, role="assistant", status="pending")
    assert overdue_conversations_purge() == 1  # not the one whose answer is still coming
    assert set(Conversation.objects.values_list("pk", flat=True)) == {answering.pk, others.pk}


@pytest.mark.parametrize("subject", ["organization", "user"])
def test_legal_hold_stops_every_purge_until_it_ends(subject: str) -> None:
    principal = member()
    now = timezone.now()
    conversation_of(principal, deleted_at=now - timedelta(days=60))
    conversation_of(principal, updated_at=now - timedelta(days=60))
    keep(principal, 1)
    retained_text(principal, days=1)
    StoredText.objects.update(expires_at=now)
    hold = legal_hold_begin(
        reason="Court of X, 4 U 12/26", **{f"{subject}_id": getattr(principal, f"{subject}_id")}
    )
    with pytest.raises(Conflict):
        legal_hold_begin(reason="Again", **{f"{subject}_id": getattr(principal, f"{subject}_id")})
    assert deleted_conversations_purge() == overdue_conversations_purge() == 0
    assert expired_texts_delete() == 0
    with pytest.raises(LegallyHeld) as refused:
        refuse_held(organization_id=principal.organization_id, user_id=principal.user_id)
    assert refused.value.code == "legal_hold"

    legal_hold_end(hold=hold)
    refuse_held(organization_id=principal.organization_id, user_id=principal.user_id)
    assert deleted_conversations_purge() == 1
    assert overdue_conversations_purge() == 1
    assert expired_texts_delete() == 1


def retained_text(principal: Principal, *, days: int) -> SafetyDecisionRecord:
    found = SafetyDecision(
        stage="prompt",
        action=Action.REVIEW,
        layer="rules",
        scores={},
        categories=["hate"],
        policy_version="1",
        latency_ms=1.0,
        text_sha256="0" * 64,
    )
    return decision_record(
        decision=found,
        organization_id=principal.organization_id,
        generation_id=None,
        user_id=principal.user_id,
        key_id=None,
        text=RetainedText("what was written", days),
    )


@pytest.mark.parametrize("whose", ["organization", "user"])
def test_training_opt_out_empties_both_exports(whose: str) -> None:
    principal, other = member(), member()
    for one in (principal, other):
        answer = finished_turns(one, 1).messages.filter(role="assistant").get()
        feedback_set(principal=one, message_id=answer.pk, rating=1)
        retained_text(one, days=3)
    Review.objects.update(state=ReviewState.CONFIRMED, resolved_at=timezone.now())
    assert (len(list(rated_answers())), len(list(labelled_texts()))) == (2, 2)
    if whose == "organization":
        keep(principal, None, allows_training=False)
    else:
        training_set(user_id=principal.user_id, allowed=False)
    assert (len(list(rated_answers())), len(list(labelled_texts()))) == (1, 1)
    training_set(user_id=principal.user_id, allowed=True)
    keep(principal, None)
    assert (len(list(rated_answers())), len(list(labelled_texts()))) == (2, 2)
