"""What an organization may see of its budgets and credit."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from backend.accounts.principal import Principal
from billing.accounts import terms_of
from billing.budgets.counters import CREDIT
from billing.budgets.credit import credit_state
from billing.budgets.limits import counter_name, load_limits
from billing.budgets.spending import spent_by_limit
from billing.models import Budget
from billing.permissions import require_manager


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


def budgets_list(*, principal: Principal) -> list[BudgetState]:
    """Raises PermissionDenied."""
    require_manager(principal)
    limits = load_limits(principal.organization_id)
    bound = [limit for limit in limits.limits if limit.scope != CREDIT]
    spent = {
        limit.name: each.total
        for limit, each in spent_by_limit(limits, bound, at=datetime.now(UTC)).items()
    }
    budgets = Budget.objects.filter(organization_id=principal.organization_id)
    return [
        BudgetState(
            budget,
            spent.get(counter_name(budget.pk), Decimal(0)),
            limits.currency,
            str(budget.key or budget.project or "Organization"),
        )
        for budget in budgets.select_related("project", "key").order_by("pk")
    ]


def credit_view(*, principal: Principal) -> CreditView:
    """Raises PermissionDenied."""
    require_manager(principal)
    terms = terms_of(principal.organization_id)
    state = credit_state(principal.organization_id, at=datetime.now(UTC))
    return CreditView(terms.is_prepaid, terms.currency, state.remaining)
