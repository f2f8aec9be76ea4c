"""Which limits bind a caller. Read from PostgreSQL, kept by each process for seconds."""

import threading
import time
from dataclasses import dataclass
from uuid import UUID

from billing.accounts import terms_of
from billing.budgets.counters import CREDIT, OWN_CEILING, SOFT, amount_down
from billing.models import Budget

KEPT_S = 10.0
"""A changed budget binds every process after at most this long."""

_lock = threading.Lock()
_kept: dict[UUID, tuple[float, "OrganizationLimits"]] = {}


@dataclass(frozen=True, slots=True)
class Limit:
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
    limits: tuple[Limit, ...]

    def binding(self, *, project_id: UUID, key_id: UUID | None) -> list[Limit]:
        """The limits that usage of this project and key counts towards."""
        return [limit for limit in self.limits if limit.binds(project_id=project_id, key_id=key_id)]


def kept_limits(organization_id: UUID) -> OrganizationLimits | None:
    """What this process knows, if it is fresh. Never touches the database."""
    with _lock:
        kept = _kept.get(organization_id)
    if kept is None or time.monotonic() - kept[0] >= KEPT_S:
        return None
    return kept[1]


def organization_limits(organization_id: UUID) -> OrganizationLimits:
    return kept_limits(organization_id) or load_limits(organization_id)


def load_limits(organization_id: UUID) -> OrganizationLimits:
    """Read them now, and keep them."""
    terms = terms_of(organization_id)
    bound = [
        Limit(
            name=counter_name(budget.pk),
            ceiling=amount_down(budget.amount) if budget.is_hard else SOFT,
            scope=budget.scope,
            project_id=budget.project_id,
            key_id=budget.key_id,
        )
        for budget in Budget.objects.filter(organization_id=organization_id).order_by("pk")
    ]
    if terms.is_prepaid:
        bound.append(Limit(CREDIT, OWN_CEILING, CREDIT, None, None))
    limits = OrganizationLimits(organization_id, terms.currency, tuple(bound))
    with _lock:
        now = time.monotonic()
        for stale in [key for key, (at, _) in _kept.items() if now - at >= KEPT_S]:
            del _kept[stale]
        _kept[organization_id] = (now, limits)
    return limits


def counter_name(budget_id: int) -> str:
    return f"budget-{budget_id}"


def forget_limits(organization_id: UUID) -> None:
    """Called where budgets are written; other processes notice within `KEPT_S`."""
    with _lock:
        _kept.pop(organization_id, None)
