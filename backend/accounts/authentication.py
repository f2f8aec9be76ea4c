"""An API key or a session becomes a Principal. Async: these stand before every request.

A cached key costs one Redis read; otherwise, and for each session request, one query.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID
from weakref import WeakValueDictionary

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import JSONObject
from django.utils import timezone

from backend.accounts import key_cache
from backend.accounts.internal_calls import PREFIX as INTERNAL_PREFIX
from backend.accounts.internal_calls import internal_call
from backend.accounts.keys import secret_hash, secret_is_well_formed
from backend.accounts.models import (
    APIKey,
    Membership,
    Organization,
    Plan,
    Project,
    ProjectRateLimit,
    User,
)
from backend.accounts.principal import ModelLimit, PlanLimits, Principal, ProjectRules
from backend.accounts.project_access import projects_open_to
from backend.accounts.suspension import refuse_suspended, suspended
from backend.accounts.terms import refuse_without_terms
from backend.platform.compiled_query import CompiledQuery
from backend.platform.database import in_database
from backend.platform.errors import AuthenticationFailed, PermissionDenied

# By a key's hash; held by those who wait.
_asked_about: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


async def principal_for_api_key(
    secret: str, *, admit: Callable[[], Awaitable[None]] | None = None
) -> Principal:
    """The caller that holds `secret`.

    A change of plan, role or scopes shows after at most ten seconds; a revocation at once.

    Args:
        admit: awaited before the database is asked about a key that it has not confirmed within
            a day; raises to refuse.
    Raises:
        AuthenticationFailed: no such key, revoked, expired, or its creator is deactivated or
            no longer in the organization. The message does not say which.
        OrganizationSuspended: the key is right, and its organization is not served.
    """
    if secret.startswith(INTERNAL_PREFIX):
        return await _principal_for_internal_call(secret)
    if not secret_is_well_formed(secret):
        raise _refused()
    sha256 = secret_hash(secret)
    try:
        cached = await key_cache.principal_read(sha256)
        if cached is not None:
            return cached
        # The first requests of a program come all at once: one of them asks the database, for all.
        async with _asked_about.setdefault(sha256, asyncio.Lock()):
            return await _principal_uncached(sha256, admit)
    except key_cache.RefusedKey:
        raise _refused() from None
    except key_cache.SuspendedKey as known:
        raise suspended(str(known)) from None


async def _principal_uncached(
    sha256: str, admit: Callable[[], Awaitable[None]] | None
) -> Principal:
    """As `principal_for_api_key`, where the cache knew nothing a moment ago; also raises what the
    cache says of a key that is refused or suspended."""
    cached = await key_cache.principal_read(sha256)
    if cached is not None:
        return cached
    if admit is not None and not await key_cache.is_confirmed(sha256):
        await admit()
    now = timezone.now()
    try:
        principal, valid_for = await in_database(_load, sha256, now)
    except AuthenticationFailed:
        await key_cache.refusal_write(sha256)
        raise
    await key_cache.principal_write(sha256, principal, now, valid_for.total_seconds())
    return principal


def principal_for_key_id(key_id: UUID) -> Principal:
    """The caller whose key this is, for work that goes on without them.

    Raises:
        AuthenticationFailed: as `principal_for_api_key`.
    """
    principal, _ = _key_principal(timezone.now(), pk=key_id, is_internal=False)
    return principal


async def principal_for_session(
    user: User, organization_id: UUID | None, *, gate: bool = True
) -> Principal:
    """The signed-in `user` in one of their organizations.

    Args:
        organization_id: the one that the session has chosen. None, or one that the user has
            left since, gives the organization they joined first, of those that are served.
        gate: False for what a member may do in a suspended organization, and before they have
            accepted the terms: see it, pay, leave it, take their data with them.
    Raises:
        PermissionDenied: the user is in no organization at all.
        OrganizationSuspended: it is not served. TermsNotAccepted: see terms.py.
    """
    return await in_database(_session_principal, user, organization_id, gate)


def principal_in_project(principal: Principal, project_id: UUID) -> Principal:
    """A person, signed in or in whose name we call, in another of their projects, with its rules.

    Raises:
        PermissionDenied: `project_unavailable`: it is archived, or theirs no more.
    """
    projects = projects_open_to(principal).filter(pk=project_id, archived_at=None)
    project = projects.annotate(limits=_limits_of(OuterRef("pk"))).first()
    if project is None:
        raise PermissionDenied(
            "The project of this chat is archived, or you are no longer in it: choose another one.",
            code="project_unavailable",
        )
    rules = _rules_of(project.allowed_models, project.limits)
    return replace(principal, project_id=project.pk, project=rules)


async def _principal_for_internal_call(token: str) -> Principal:
    """Not cached: the token is good for one call.

    Raises: AuthenticationFailed; PermissionDenied: `project_unavailable`."""
    call = internal_call(token)
    if call is None:
        raise _refused()
    which = {"pk": call.key_id, "is_internal": True}
    principal, _ = await in_database(_key_principal, timezone.now(), **which)
    if call.project_id in (None, principal.project_id):
        return principal
    return await in_database(principal_in_project, principal, call.project_id)


def _load(sha256: str, now: datetime) -> tuple[Principal, timedelta]:
    return _key_principal(now, sha256=sha256, is_internal=False)


def _key_principal(now: datetime, **which: Any) -> tuple[Principal, timedelta]:
    """The principal of the key row that `which` names, and how long it may be cached.

    Raises AuthenticationFailed, OrganizationSuspended."""
    # A subquery: a join would give the key the role of any member of the organization.
    creator = Membership.objects.filter(
        organization=OuterRef("organization"), user=OuterRef("created_by")
    )
    key = (
        APIKey.objects.select_related("organization__plan")
        .select_related("project")
        .annotate(role=Subquery(creator.values("role")), limits=_limits_of(OuterRef("project")))
        .filter(
            **which,
            revoked_at=None,
            project__archived_at=None,
            created_by__is_active=True,
            role__isnull=False,
        )
        .first()
    )
    if key is None or (key.expires_at is not None and key.expires_at <= now):
        raise _refused()
    refuse_suspended(key.organization)
    valid_for = timedelta(seconds=key_cache.PRINCIPAL_TTL_S)
    if key.expires_at is not None:
        valid_for = max(min(valid_for, key.expires_at - now), timedelta(milliseconds=1))
    principal = Principal(
        organization_id=key.organization_id,
        project_id=key.project_id,
        user_id=key.created_by_id,
        key_id=key.id,
        role=key.role,
        plan=plan_limits(key.organization.plan),
        scopes=frozenset(key.scopes),
        project=_rules_of(key.project.allowed_models, key.limits),
    )
    return principal, valid_for


class _Joined(NamedTuple):
    """An organization that a user is in, by its default project; the plan's are of `PlanLimits`."""

    organization_id: UUID
    suspended_at: datetime | None
    project_id: UUID
    allowed_models: list[str]
    limits: list[dict[str, Any]]
    role: str
    slug: str
    queue_priority: int
    requests_per_minute: int
    tokens_per_minute: int
    concurrent_generations: int


def _joined_by(user_id: UUID) -> QuerySet[Project, tuple[Any, ...]]:
    mine = FilteredRelation(
        "organization__memberships", condition=Q(organization__memberships__user=user_id)
    )
    plan = ("slug", "queue_priority", "requests_per_minute", "tokens_per_minute")
    return (
        Project.objects.annotate(mine=mine)
        .filter(is_default=True, mine__isnull=False)
        .annotate(limits=_limits_of(OuterRef("pk")))
        .order_by("mine__created_at", "mine__pk")
        .values_list(
            *("organization_id", "organization__suspended_at", "pk", "allowed_models"),
            *("limits", "mine__role"),
            *(f"organization__plan__{name}" for name in (*plan, "concurrent_generations")),
        )
    )


_JOINED = CompiledQuery(_joined_by)


def _session_principal(user: User, organization_id: UUID | None, gate: bool) -> Principal:
    joined = [_Joined(*row) for row in _JOINED.rows(user.pk)]
    if not joined:
        raise PermissionDenied("You belong to no organization; ask an owner to add you.")
    served = (one for one in joined if one.suspended_at is None)
    chosen = next(
        (one for one in joined if one.organization_id == organization_id),
        None,
    ) or next(served, joined[0])
    if gate:
        if chosen.suspended_at is not None:
            refuse_suspended(Organization.objects.get(pk=chosen.organization_id))
        refuse_without_terms(user.pk)
    return Principal(
        organization_id=chosen.organization_id,
        project_id=chosen.project_id,
        user_id=user.pk,
        key_id=None,
        role=chosen.role,
        plan=PlanLimits(*chosen[6:]),
        project=_rules_of(chosen.allowed_models, chosen.limits),
    )


def _limits_of(project: OuterRef) -> ArraySubquery:
    """In the query that loads the project: no caller costs one more."""
    limits = ProjectRateLimit.objects.filter(project=project).order_by("model")
    return ArraySubquery(
        limits.values(
            limit=JSONObject(
                model="model",
                requests_per_minute="requests_per_minute",
                tokens_per_minute="tokens_per_minute",
            )
        )
    )


def _rules_of(allowed_models: list[str], limits: list[dict[str, Any]]) -> ProjectRules:
    return ProjectRules(
        allowed_models=frozenset(allowed_models),
        limits=tuple(ModelLimit(**limit) for limit in limits),
    )


def plan_limits(plan: Plan) -> PlanLimits:
    return PlanLimits(
        slug=plan.slug,
        queue_priority=plan.queue_priority,
        requests_per_minute=plan.requests_per_minute,
        tokens_per_minute=plan.tokens_per_minute,
        concurrent_generations=plan.concurrent_generations,
    )


def _refused() -> AuthenticationFailed:
    return AuthenticationFailed(
        "Incorrect API key provided. Create one on the API keys page of your account."
    )
