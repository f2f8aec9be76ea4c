"""Reads of the safety audit."""

import time
from threading import Lock
from uuid import UUID

from django.db.models import Q

from safety.audit.models import SafetyPolicy
from safety.policy import DEFAULT_POLICY, Policy

POLICY_CACHE_S = 5.0
"""How old a policy may be in any process: half of the ten seconds that are promised."""

_MAX_CACHED = 4_096
_cache: dict[tuple[UUID, str], tuple[float, Policy]] = {}
_lock = Lock()


def policy_for(*, organization_id: UUID, model: str) -> Policy:
    """The policy that rules a generation, at most POLICY_CACHE_S old.

    The most specific scope wins: organization and model, organization, model, everyone; then
    DEFAULT_POLICY. Within a scope the newest version rules, and an inactive one ends the scope.
    """
    key, now = (organization_id, model), time.monotonic()
    cached = _cache.get(key)
    if cached is not None and now - cached[0] < POLICY_CACHE_S:
        return cached[1]
    policy = _policy_from_database(organization_id, model)
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
