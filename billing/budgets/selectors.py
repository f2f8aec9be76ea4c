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
from billing.budgets.counters import CREDIT
from billing.budgets.credit import credit_state
from billing.budgets.limits import OrganizationLimits, counter_name, load_limits
from billing.models import Budget
from billing.periods import month_of
from billing.permissions import require_manager
from billing.selectors import priced_usage


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
    spent = _spent_this_month(limits)
    return [
        BudgetState(
            budget,
            spent.get(counter_name(budget.pk), Decimal(0)),
            limits.currency,
            str(budget.key or budget.project or "Organization"),
        )
        for budget in budgets
    ]


def _spent_this_month(limits: OrganizationLimits) -> dict[str, Decimal]:
    """By the limit's name, as the usage page has it: a large customer's month is not summed record
    by record for a picture. What is enforced is counted from the ledger (`spending.py`)."""
    bound = [limit for limit in limits.limits if limit.scope != CREDIT]
    spent = {limit.name: Decimal(0) for limit in bound}
    if not bound:
        return spent
    month = month_of(datetime.now(UTC))
    for priced in priced_usage(
        organization_id=limits.organization_id,
        starts=[month.start],
        end=month.end,
        dimensions=("project_id", "key_id"),
    ):
        project_id, key_id = priced.bucket.project_id, priced.bucket.key_id
        assert project_id is not None
        for limit in bound:
            if limit.binds(project_id=project_id, key_id=key_id):
                spent[limit.name] += priced.cost
    return spent


def credit_view(*, principal: Principal) -> CreditView:
    """Raises PermissionDenied."""
    require_manager(principal)
    terms = terms_of(principal.organization_id)
    state = credit_state(principal.organization_id, at=datetime.now(UTC))
    return CreditView(terms.is_prepaid, terms.currency, state.remaining)
