"""Which limits bind a caller. Read from PostgreSQL, cached by each process for seconds."""

import threading
import time
from dataclasses import dataclass
from uuid import UUID

from billing.accounts import terms_of
from billing.budgets.counters import CREDIT, OWN_CEILING, SOFT, amount_down
from billing.budgets.credit import credit_debt
from billing.models import Budget

CACHE_TTL_S = 10.0
"""A changed budget binds every process after at most this long."""

_lock = threading.Lock()
_cache: dict[UUID, tuple[float, "OrganizationLimits"]] = {}


@dataclass(frozen=True, slots=True)
class BudgetLimit:
    """One budget as enforcement sees it.

    Attributes:
        name: what its counter is called.
        ceiling: the most that may be spent in a month, in the counters' unit; `SOFT`; or
            `OWN_CEILING` for credit, whose counter holds what was left of it at the last rebuild.
        scope: `organization`, `project`, `key` or `credit`.
    """

    name: str
    ceiling: int
    scope: str
    project_id: UUID | None
    key_id: UUID | None

    def binds(self, *, project_id: UUID | None, key_id: UUID | None) -> bool:
        return (self.project_id is None or self.project_id == project_id) and (
            self.key_id is None or self.key_id == key_id
        )


@dataclass(frozen=True, slots=True)
class OrganizationLimits:
    organization_id: UUID
    currency: str
    limits: tuple[BudgetLimit, ...]

    def binding(self, *, project_id: UUID, key_id: UUID | None) -> list[BudgetLimit]:
        """The limits that usage of this project and key counts towards."""
        return [limit for limit in self.limits if limit.binds(project_id=project_id, key_id=key_id)]


def cached_limits(organization_id: UUID) -> OrganizationLimits | None:
    """What this process has cached, if it is fresh. Never touches the database."""
    with _lock:
        cached = _cache.get(organization_id)
    if cached is None or time.monotonic() - cached[0] >= CACHE_TTL_S:
        return None
    return cached[1]


def organization_limits(organization_id: UUID) -> OrganizationLimits:
    return cached_limits(organization_id) or load_limits(organization_id)


def load_limits(organization_id: UUID) -> OrganizationLimits:
    """Read them now, and cache them."""
    terms = terms_of(organization_id)
    bound = [
        BudgetLimit(
            name=counter_name(budget.pk),
            ceiling=amount_down(budget.amount, terms.currency) if budget.is_hard else SOFT,
            scope=budget.scope,
            project_id=budget.project_id,
            key_id=budget.key_id,
        )
        for budget in Budget.objects.filter(organization_id=organization_id).order_by("pk")
    ]
    if terms.is_prepaid or credit_debt(organization_id):
        bound.append(BudgetLimit(CREDIT, OWN_CEILING, CREDIT, None, None))
    limits = OrganizationLimits(organization_id, terms.currency, tuple(bound))
    with _lock:
        now = time.monotonic()
        for stale in [key for key, (at, _) in _cache.items() if now - at >= CACHE_TTL_S]:
            del _cache[stale]
        _cache[organization_id] = (now, limits)
    return limits


def counter_name(budget_id: int) -> str:
    return f"budget-{budget_id}"


def clear_limits_cache(organization_id: UUID) -> None:
    """Called where budgets are written; other processes notice within `CACHE_TTL_S`."""
    with _lock:
        _cache.pop(organization_id, None)
