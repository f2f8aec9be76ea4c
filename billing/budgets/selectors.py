"""What an organization may see of its budgets and credit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from django.db.models import QuerySet

from backend.accounts.paging import page_after
from backend.accounts.principal import Principal
from backend.platform.errors import NotFound
from billing.accounts import terms_of
from billing.budgets.credit import credit_state
from billing.budgets.limits import counter_name, load_limits
from billing.budgets.spending import spent_by_limit
from billing.models import Budget
from billing.permissions import require_manager
from billing.snapshots import one_snapshot


@dataclass(frozen=True, slots=True)
class BudgetState:
    """A budget and what is spent of it this month; `spent` exact, in `currency`."""

    budget: Budget
    spent: Decimal
    currency: str
    label: str


@dataclass(frozen=True, slots=True)
class CreditView:
    is_prepaid: bool
    currency: str
    remaining: Decimal


def budgets_list(
    *, principal: Principal, limit: int = 100, after: str | None = None
) -> tuple[list[BudgetState], str | None]:
    """Oldest first, those after `after`; and where the next page begins.

    Raises: PermissionDenied; InvalidRequest: `after` is none of the caller's.
    """
    require_manager(principal)
    page = page_after(_own(principal), after=after, limit=limit)
    return _states(principal, page.items), page.next_cursor


def budget_get(*, principal: Principal, budget_id: int) -> BudgetState:
    """Raises PermissionDenied, NotFound."""
    require_manager(principal)
    budget = _own(principal).filter(pk=budget_id).first()
    if budget is None:
        raise NotFound("No such budget.")
    [state] = _states(principal, [budget])
    return state


def _own(principal: Principal) -> QuerySet[Budget]:
    own = Budget.objects.filter(organization_id=principal.organization_id)
    return own.select_related("project", "key")


def _states(principal: Principal, budgets: Sequence[Budget]) -> list[BudgetState]:
    limits = load_limits(principal.organization_id)
    names = {counter_name(budget.pk) for budget in budgets}
    bound = [limit for limit in limits.limits if limit.name in names]
    with one_snapshot():
        amounts = spent_by_limit(limits, bound, at=datetime.now(UTC))
    spent = {limit.name: amount for limit, amount in amounts.items()}
    return [
        BudgetState(
            budget,
            spent.get(counter_name(budget.pk), Decimal(0)),
            limits.currency,
            str(budget.key or budget.project or "Organization"),
        )
        for budget in budgets
    ]


def credit_view(*, principal: Principal) -> CreditView:
    """Raises PermissionDenied."""
    require_manager(principal)
    terms = terms_of(principal.organization_id)
    state = credit_state(principal.organization_id, at=datetime.now(UTC))
    return CreditView(terms.is_prepaid, terms.currency, state.remaining)
