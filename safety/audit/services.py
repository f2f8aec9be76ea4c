"""Writes of the safety audit: decisions recorded, policies versioned, reviews resolved."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from backend.accounts.data_policy import retention_ends
from backend.accounts.legal_hold import without_held
from backend.accounts.models import APIKey
from backend.accounts.principal import Principal
from backend.audit.actions import Action as AuditAction
from backend.audit.services import SYSTEM, record, staff
from backend.platform.errors import Conflict, NotFound
from backend.platform.pages import delete_in_pages
from safety.audit.metrics import decision_count
from safety.audit.models import (
    Review,
    ReviewReason,
    ReviewState,
    SafetyDecisionRecord,
    SafetyPolicy,
    StageChoice,
    StoredText,
)
from safety.audit.texts import text_encrypt
from safety.judge.policy import Policy
from safety.types import Action, SafetyDecision


@dataclass(frozen=True, slots=True)
class RetainedText:
    """A checked text, and for how many days the policy retains it; 0: not at all."""

    text: str
    days: int


def decision_record(
    *,
    decision: SafetyDecision,
    organization_id: UUID,
    generation_id: UUID | None,
    user_id: UUID | None,
    key_id: UUID | None,
    text: RetainedText | None = None,
) -> SafetyDecisionRecord:
    """Store and count one decision, inside the caller's transaction where there is one.

    A decision whose action is `review` also joins the review queue.

    Args:
        text: the checked text, retained (encrypted) where the policy says so and something was
            found: what will never be reviewed is not retained.
    """
    stored = decision_row(
        decision=decision,
        organization_id=organization_id,
        generation_id=generation_id,
        user_id=user_id,
        key_id=key_id,
    )
    stored.save(force_insert=True)
    if text is not None and decision.action is not Action.ALLOW:
        _text_retain(stored, text)
    if decision.action is Action.REVIEW:
        Review.objects.create(decision=stored, reason=ReviewReason.POLICY)
    return stored


def decision_row(
    *,
    decision: SafetyDecision,
    organization_id: UUID,
    generation_id: UUID | None,
    user_id: UUID | None,
    key_id: UUID | None,
) -> SafetyDecisionRecord:
    """Count one decision; its row, unsaved. All that is stored of one that found nothing."""
    decision_count(decision)
    return SafetyDecisionRecord(
        organization_id=organization_id,
        generation_id=generation_id,
        user_id=user_id,
        key_id=key_id,
        stage=decision.stage,
        action=str(decision.action),
        would_be=str(decision.would_be or ""),
        layer=decision.layer,
        categories=decision.categories,
        signals=list(decision.signals),
        failed=list(decision.failed),
        scores={name: round(score, 4) for name, score in decision.scores.items()},
        policy_version=decision.policy_version,
        latency_ms=decision.latency_ms,
        text_sha256=decision.text_sha256,
    )


def prompt_retain(*, generation_id: UUID, text: RetainedText) -> None:
    """Retain the prompt of a generation in whose answer something was found: a reviewer cannot
    judge an answer without its prompt. Does nothing where it is retained already."""
    decision = SafetyDecisionRecord.objects.filter(
        generation_id=generation_id, stage=StageChoice.PROMPT, stored_text=None
    ).first()
    if decision is not None:
        _text_retain(decision, text)


def _text_retain(decision: SafetyDecisionRecord, text: RetainedText) -> None:
    if text.days <= 0:
        return
    StoredText.objects.create(
        decision=decision,
        ciphertext=text_encrypt(
            text.text, organization_id=decision.organization_id, decision_id=decision.pk
        ),
        expires_at=timezone.now() + timedelta(days=text.days),
    )


@transaction.atomic
def policy_save(
    *,
    organization_id: UUID | None,
    model: str,
    document: Mapping[str, Any],
    created_by_id: UUID | None,
    comment: str = "",
    is_active: bool = True,
) -> SafetyPolicy:
    """Make `document` the policy of the organization and model, as its next version.

    Every process follows within `selectors.POLICY_CACHE_S`.

    Raises:
        InvalidPolicy: the document is not a policy; nothing is stored.
    """
    Policy.from_dict({**document, "version": "check"})
    scope = SafetyPolicy.objects.filter(model=model)
    if organization_id is None:
        scope = scope.filter(organization__isnull=True)
    else:
        scope = scope.filter(organization_id=organization_id)
    latest = scope.aggregate(latest=Max("version"))["latest"] or 0
    saved = SafetyPolicy.objects.create(
        organization_id=organization_id,
        model=model,
        version=latest + 1,
        document=dict(document),
        is_active=is_active,
        comment=comment,
        created_by_id=created_by_id,
    )
    if organization_id is not None:
        record(
            AuditAction.POLICY_UPDATED,
            organization_id=organization_id,
            actor=staff(created_by_id) if created_by_id else SYSTEM,
            target=("policy", "safety"),
            details={"model": model, "version": saved.version, "is_active": is_active},
        )
    return saved


def retained_text_access_record(*, review: Review, reader_id: UUID) -> None:
    """Write into the organization's log that staff are shown a retained text, before they are."""
    record(
        AuditAction.CONTENT_ACCESSED,
        organization_id=review.decision.organization_id,
        actor=staff(reader_id),
        target=("safety_decision", review.decision_id),
        details={"reason": f"review: {review.reason}"},
    )


@transaction.atomic
def appeal_create(*, principal: Principal, generation_id: UUID, appeal: str) -> Review:
    """Ask a person to look at the block or halt of the caller's own generation.

    Raises:
        NotFound: no generation of the caller's was blocked or halted under this id.
        Conflict: it is under review, or was reviewed.
    """
    decision = (
        SafetyDecisionRecord.objects.filter(
            organization_id=principal.organization_id,
            user_id=principal.user_id,
            generation_id=generation_id,
            action=str(Action.BLOCK),
        )
        .order_by("-created_at")
        .first()
    )
    if decision is None:
        raise NotFound(f"No stopped generation {generation_id} of yours; nothing to appeal.")
    review, created = Review.objects.get_or_create(
        decision=decision, defaults={"reason": ReviewReason.APPEAL, "appeal": appeal}
    )
    if not created:
        raise Conflict("This decision is already under review, or was reviewed.")
    return review


@transaction.atomic
def review_resolve(
    *, review_id: UUID, state: ReviewState, reviewer_id: UUID | None, note: str = ""
) -> Review:
    """Confirm or overturn a decision; a resolved review stays as it is.

    Raises:
        NotFound: there is no such review.
        Conflict: it was resolved before.
    """
    review = Review.objects.select_for_update().filter(id=review_id).first()
    if review is None:
        raise NotFound(f"No review {review_id}.")
    if review.state != ReviewState.OPEN:
        raise Conflict(f"This review was resolved before, as {review.state}.")
    review.state = state
    review.reviewer_id = reviewer_id
    review.note = note or review.note
    review.resolved_at = timezone.now()
    review.save(update_fields=["state", "reviewer_id", "note", "resolved_at"])
    return review


def expired_texts_delete() -> int:
    """Delete retained texts that have expired, or that their organization or project keeps no
    longer since, and that are not held; how many. Called by beat."""
    now = timezone.now()
    due = [StoredText.objects.filter(expires_at__lte=now)]
    for owner, kept_since in retention_ends(now=now):
        if "project_id" in owner:
            of = Q(decision__key_id__in=APIKey.objects.filter(**owner).values("pk"))
        else:
            of = Q(decision__organization_id=owner["organization_id"])
        due.append(StoredText.objects.filter(of, decision__created_at__lte=kept_since))
    held = {"organization": "decision__organization_id", "user": "decision__user_id"}
    return sum(delete_in_pages(without_held(rows, **held)) for rows in due)
