"""Writes of the safety audit: decisions recorded, policies versioned."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max

from safety.audit.models import SafetyDecisionRecord, SafetyPolicy
from safety.policy import Policy
from safety.types import SafetyDecision


def decision_record(
    *,
    decision: SafetyDecision,
    organization_id: UUID,
    generation_id: UUID | None,
    user_id: UUID | None,
    key_id: UUID | None,
) -> SafetyDecisionRecord:
    """Store one decision; the text itself is never among its fields."""
    return SafetyDecisionRecord.objects.create(
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
    scope = SafetyPolicy.objects.filter(organization_id=organization_id, model=model)
    latest = scope.aggregate(latest=Max("version"))["latest"] or 0
    return SafetyPolicy.objects.create(
        organization_id=organization_id,
        model=model,
        version=latest + 1,
        document=dict(document),
        is_active=is_active,
        comment=comment,
        created_by_id=created_by_id,
    )
