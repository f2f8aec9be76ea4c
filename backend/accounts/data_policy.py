"""How long data is kept, whether API calls are stored, what may train, which answers are reused.

A project may keep for less time than its organization, never for longer.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, Model, OuterRef, QuerySet

from backend.accounts.models import AnswerCache, DataPolicy, Project, TrainingOptOut
from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.database import in_database
from backend.platform.errors import InvalidRequest, PermissionDenied

CACHE_S = 5.0
MAX_DAYS = 3650
MAX_LOG_DAYS = 365
MIN_ANSWER_CACHE_S = 60
MAX_ANSWER_CACHE_S = 7 * 86_400
_MAX_CACHED = 4_096
_cache: dict[tuple[UUID, UUID], tuple[float, "DataRules"]] = {}

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class ReuseRules:
    """Which requests of an organization are answered by what was computed for another of it.

    Attributes:
        shares_running: an identical request that arrives while one is answered gets its answer.
        cache, lifetime_s: which requests a stored answer answers, and for how long.
        sampled: also where the answer is sampled.
    """

    shares_running: bool = True
    cache: AnswerCache = AnswerCache.OFF
    lifetime_s: int = 3600
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class DataRules:
    """What holds for a caller's data.

    Attributes:
        retention_days: None: until it is deleted; 0: nothing outlives its delivery.
        stores_api_calls: False: an API call is as with `store: false`.
        log_days: how long requests of API keys are logged; 0: they are not.
    """

    retention_days: int | None
    stores_api_calls: bool
    log_days: int = 0
    reuse: ReuseRules = ReuseRules()

    def call_days(self) -> int | None:
        """The most days that anything of an API call is kept."""
        return self.retention_days if self.stores_api_calls else 0


async def data_rules(principal: Principal) -> DataRules:
    """What holds for the caller, at most CACHE_S old."""
    place = principal.organization_id, principal.project_id
    cached = _cached(*place)
    return cached if cached is not None else await in_database(data_rules_of, *place)


async def calls_are_stored(principal: Principal) -> bool:
    """Whether anything of an API call of the caller outlives its delivery."""
    return (await data_rules(principal)).call_days() != 0


def data_rules_of(organization_id: UUID, project_id: UUID) -> DataRules:
    """The same, in a thread that may ask the database."""
    cached = _cached(organization_id, project_id)
    if cached is not None:
        return cached
    policy = data_policy_get(organization_id=organization_id)
    project_days, project_logs = _project_rules(project_id)
    days = [policy.retention_days, project_days]
    kept = min((d for d in days if d is not None), default=None)
    logs = policy.logs_requests and policy.stores_api_calls and project_logs
    log_days = min(policy.request_log_days, MAX_DAYS if kept is None else kept)
    reuse = ReuseRules(
        policy.shares_running,
        AnswerCache(policy.answer_cache),
        policy.answer_cache_s,
        policy.reuses_sampled,
    )
    rules = DataRules(kept, policy.stores_api_calls, log_days if logs else 0, reuse)
    if len(_cache) >= _MAX_CACHED:
        _cache.clear()
    _cache[organization_id, project_id] = (time.monotonic(), rules)
    return rules


def data_rules_clear() -> None:
    """Forget what this process knows."""
    _cache.clear()


def data_policy_get(*, organization_id: UUID) -> DataPolicy:
    """The organization's, or the defaults."""
    found = DataPolicy.objects.filter(pk=organization_id).first()
    return found or DataPolicy(organization_id=organization_id)


@transaction.atomic
def data_policy_set(
    *,
    principal: Principal,
    retention_days: int | None,
    stores_api_calls: bool,
    allows_training: bool,
    logs_requests: bool | None = None,
    request_log_days: int | None = None,
) -> DataPolicy:
    """Change the policy of the caller's organization; older data follows with the next purge.

    Args:
        logs_requests, request_log_days: None leaves it as it is.
    Raises:
        PermissionDenied: neither owner nor admin. InvalidRequest: `retention_days`,
            `request_log_days`.
    """
    if not principal.manages_organization:
        raise PermissionDenied("Only owners and admins decide how data is kept.")
    if retention_days is not None and not 0 <= retention_days <= MAX_DAYS:
        raise InvalidRequest(
            f"retention_days must be 0 to {MAX_DAYS}, or null.", param="retention_days"
        )
    if request_log_days is not None and not 1 <= request_log_days <= MAX_LOG_DAYS:
        raise InvalidRequest(
            f"request_log_days must be 1 to {MAX_LOG_DAYS}.", param="request_log_days"
        )
    changes = {
        "retention_days": retention_days,
        "stores_api_calls": stores_api_calls,
        "allows_training": allows_training,
        "logs_requests": logs_requests,
        "request_log_days": request_log_days,
    }
    given = {
        name: value
        for name, value in changes.items()
        if value is not None or name == "retention_days"
    }
    policy, _ = DataPolicy.objects.update_or_create(
        organization_id=principal.organization_id, defaults=given
    )
    record(
        Action.RETENTION_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("organization", principal.organization_id),
        details=given,
    )
    data_rules_clear()
    return policy


@transaction.atomic
def answer_reuse_set(*, principal: Principal, rules: ReuseRules) -> DataPolicy:
    """Change which answers of the caller's organization are reused; stored ones that may not be
    used any more go with the next purge.

    Raises:
        PermissionDenied: neither owner nor admin. InvalidRequest: `rules.lifetime_s`.
    """
    if not principal.manages_organization:
        raise PermissionDenied("Only owners and admins decide which answers are reused.")
    if not MIN_ANSWER_CACHE_S <= rules.lifetime_s <= MAX_ANSWER_CACHE_S:
        raise InvalidRequest(
            f"answer_cache_s must be {MIN_ANSWER_CACHE_S} to {MAX_ANSWER_CACHE_S}.",
            param="answer_cache_s",
        )
    changes: dict[str, str | int | float | bool | list[str] | None] = {
        "shares_running": rules.shares_running,
        "answer_cache": rules.cache.value,
        "answer_cache_s": rules.lifetime_s,
        "reuses_sampled": rules.sampled,
    }
    policy, _ = DataPolicy.objects.update_or_create(
        organization_id=principal.organization_id, defaults=changes
    )
    record(
        Action.ANSWER_REUSE_UPDATED,
        organization_id=principal.organization_id,
        actor=principal,
        target=("organization", principal.organization_id),
        details=changes,
    )
    data_rules_clear()
    return policy


def training_set(*, user_id: UUID, allowed: bool) -> None:
    """Whether a user's texts may train, where their organization allows it."""
    if allowed:
        TrainingOptOut.objects.filter(pk=user_id).delete()
    else:
        TrainingOptOut.objects.get_or_create(user_id=user_id)


def training_is_allowed(*, user_id: UUID) -> bool:
    return not TrainingOptOut.objects.filter(pk=user_id).exists()


def only_for_training(rows: QuerySet[M], *, organization: str, user: str) -> QuerySet[M]:
    """`rows` that may train: neither their organization nor their user has opted out.

    Args:
        organization, user: the fields of either id.
    """
    refused = DataPolicy.objects.filter(pk=OuterRef(organization), allows_training=False)
    opted_out = TrainingOptOut.objects.filter(pk=OuterRef(user))
    return rows.exclude(Exists(refused)).exclude(Exists(opted_out))


def retention_ends(
    *, now: datetime, at_least: timedelta = timedelta(0)
) -> Iterator[tuple[dict[str, UUID], datetime]]:
    """For each retention: whose it is (`organization_id` or `project_id`), and before which moment
    what is theirs was made that goes now.

    Args:
        at_least: how long everything is kept that has to be fetched first.
    """
    for organization_id, days in organizations_with_retention():
        yield {"organization_id": organization_id}, now - max(timedelta(days=days), at_least)
    for project_id, days in projects_with_retention():
        yield {"project_id": project_id}, now - max(timedelta(days=days), at_least)


def organizations_with_retention() -> list[tuple[UUID, int]]:
    """Each organization that has an end of retention, with its days."""
    found = DataPolicy.objects.exclude(retention_days=None).values_list("pk", "retention_days")
    return [(organization_id, days) for organization_id, days in found if days is not None]


def projects_with_retention() -> list[tuple[UUID, int]]:
    """The same of projects, for what their keys have stored."""
    found = Project.objects.exclude(retention_days=None).values_list("pk", "retention_days")
    return [(project_id, days) for project_id, days in found if days is not None]


def _cached(organization_id: UUID, project_id: UUID) -> DataRules | None:
    cached = _cache.get((organization_id, project_id))
    if cached is None or time.monotonic() - cached[0] > CACHE_S:
        return None
    return cached[1]


def _project_rules(project_id: UUID) -> tuple[int | None, bool]:
    """Its retention, and whether requests of its keys may be logged."""
    found = Project.objects.filter(pk=project_id).values_list("retention_days", "logs_requests")
    return found.first() or (None, False)
