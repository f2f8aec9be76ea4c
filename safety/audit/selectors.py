"""Reads of the safety audit."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from threading import Lock
from uuid import UUID

from django.db.models import Count, Q
from django.utils import timezone

from backend.accounts.data_policy import only_for_training
from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from safety.audit.models import (
    Review,
    ReviewState,
    SafetyDecisionRecord,
    SafetyPolicy,
    StageChoice,
    StoredText,
)
from safety.judge.policy import DEFAULT_POLICY, Policy
from safety.types import Action

POLICY_CACHE_S = 5.0
"""How old a policy may be in any process: half of the ten seconds that are promised."""

_MAX_CACHED = 4_096
_cache: dict[tuple[UUID, str], tuple[float, Policy]] = {}
_lock = Lock()


def policy_for(*, organization_id: UUID, model: str, key_id: UUID | None = None) -> Policy:
    """The policy that rules a generation, at most POLICY_CACHE_S old.

    The most specific scope wins: organization and model, organization, model, everyone; then
    DEFAULT_POLICY. Within a scope the newest version rules, and an inactive one ends the scope.

    Args:
        key_id: of the API key that asks; see `Policy.for_key`.
    """
    policy = _cached_policy(organization_id, model)
    return policy.for_key(str(key_id) if key_id is not None else None)


def _cached_policy(organization_id: UUID, model: str) -> Policy:
    key, now = (organization_id, model), time.monotonic()
    cached = _cache.get(key)
    if cached is not None and now - cached[0] < POLICY_CACHE_S:
        return cached[1]
    policy = replace(_policy_from_database(organization_id, model), owner=str(organization_id))
    with _lock:
        if len(_cache) >= _MAX_CACHED:
            _cache.clear()
        _cache[key] = (now, policy)
    return policy


def policy_cache_clear() -> None:
    """Forget cached policies of this process (the admin shows its change at once)."""
    with _lock:
        _cache.clear()


def _policy_from_database(organization_id: UUID, model: str) -> Policy:
    rows = SafetyPolicy.objects.filter(
        Q(organization_id=organization_id) | Q(organization_id=None), model__in=(model, "")
    ).order_by("version")
    newest = {(row.organization_id, row.model): row for row in rows}
    for scope in ((organization_id, model), (organization_id, ""), (None, model), (None, "")):
        row = newest.get(scope)
        if row is not None and row.is_active:
            return Policy.from_dict({**row.document, "version": f"{row.id.hex[:8]}-{row.version}"})
    return DEFAULT_POLICY


def appeals_page(
    *, principal: Principal, generation_id: UUID | None, after: str | None, limit: int
) -> Page[Review]:
    """The reviews of the caller's own stopped generations, or of one, newest first.

    Raises InvalidRequest: `after` is none of them.
    """
    reviews = Review.objects.filter(
        decision__organization_id=principal.organization_id,
        decision__user_id=principal.user_id,
        decision__action=Action.BLOCK.value,
        decision__generation_id__isnull=False,
    )
    if generation_id is not None:
        reviews = reviews.filter(decision__generation_id=generation_id)
    reviews = reviews.select_related("decision")
    return page_after(reviews, after=after, limit=limit, newest_first=True)


def labelled_texts() -> Iterator[dict[str, str]]:
    """What reviewers decided, as training labels: `text`, `label`, `category`, `stage`, `prompt`.

    Only reviews whose text is still retained, and may train: an overturned block is `benign`, a
    confirmed one `harmful`. `prompt` is, for an answer, the prompt that it replies to; "" where
    that is not retained.
    """
    reviews = (
        only_for_training(
            Review.objects.exclude(state=ReviewState.OPEN),
            organization="decision__organization_id",
            user="decision__user_id",
        )
        .filter(decision__stored_text__isnull=False)
        .select_related("decision", "decision__stored_text")
        .order_by("created_at")
    )
    for review in reviews:
        decision = review.decision
        yield {
            "text": decision.stored_text.text,
            "label": "harmful" if review.state == ReviewState.CONFIRMED else "benign",
            "category": decision.categories[0] if decision.categories else "",
            "stage": decision.stage,
            "prompt": _retained_prompt_of(decision),
        }


def _retained_prompt_of(decision: SafetyDecisionRecord) -> str:
    if decision.stage != StageChoice.OUTPUT or decision.generation_id is None:
        return ""
    stored = (
        StoredText.objects.filter(
            decision__generation_id=decision.generation_id, decision__stage=StageChoice.PROMPT
        )
        .select_related("decision")
        .first()
    )
    return stored.text if stored is not None else ""


def block_rate_drift(*, hours: int = 1, days: int = 7) -> float | None:
    """How far the last hours' block rate is from the days before, in standard errors.

    Returns:
        A z score, positive when more is blocked than usual; None with too little to tell
        (under 50 decisions in either period). Source: two-proportion z test.
    """
    now = timezone.now()
    recent_start, past_start = now - timedelta(hours=hours), now - timedelta(days=days)
    blocked = Count("id", filter=Q(action="block"))
    prompts = SafetyDecisionRecord.objects.filter(stage="prompt")
    recent = prompts.filter(created_at__gte=recent_start).aggregate(n=Count("id"), blocked=blocked)
    past = prompts.filter(created_at__gte=past_start, created_at__lt=recent_start).aggregate(
        n=Count("id"), blocked=blocked
    )
    if recent["n"] < 50 or past["n"] < 50:
        return None
    together = (recent["blocked"] + past["blocked"]) / (recent["n"] + past["n"])
    spread = (together * (1 - together) * (1 / recent["n"] + 1 / past["n"])) ** 0.5
    difference = recent["blocked"] / recent["n"] - past["blocked"] / past["n"]
    return float(difference / spread) if spread else 0.0
