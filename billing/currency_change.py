"""Another currency for an organization: only while nothing of it is counted in the one it has.

Amounts are never converted, so credit, budgets and usage that waits for its invoice would become
other amounts.
"""

from uuid import UUID

from backend.platform.errors import Conflict
from billing import ledger
from billing.accounts import terms_of
from billing.budgets.credit import LEFT
from billing.budgets.credit_services import lock_credit
from billing.currencies import currency_code
from billing.models import (
    Budget,
    CreditEntry,
    CreditKind,
    PlanPeriod,
    TopUp,
    TopUpState,
)


def currency_change_check(*, organization_id: UUID, currency: str) -> None:
    """Call it in the transaction that writes the currency: credit is locked until that ends.

    Raises:
        InvalidRequest: no currency of ISO 4217.
        Conflict: credit, open top-ups, usage on no invoice, a paid plan or budgets in the present
            currency; the message names them.
    """
    currency = currency_code(currency)
    lock_credit(organization_id)
    present = terms_of(organization_id).currency
    if currency == present:
        return
    reasons = _reasons(organization_id, currency)
    if reasons:
        raise Conflict(
            f"The currency cannot change from {present} to {currency} while there is"
            f" {', '.join(reasons)}.",
            param="currency",
        )


def _reasons(organization_id: UUID, currency: str) -> list[str]:
    grants = CreditEntry.objects.filter(organization_id=organization_id, kind=CreditKind.GRANT)
    top_ups = TopUp.objects.filter(organization_id=organization_id, state=TopUpState.PENDING)
    usage = ledger.not_invoiced(organization_id)
    plans = PlanPeriod.objects.filter(organization_id=organization_id, ended_at=None, amount__gt=0)
    found = {
        "prepaid credit": grants.exclude(currency=currency).annotate(left=LEFT).exclude(left=0),
        "an open top-up": top_ups.exclude(currency=currency),
        "usage that is on no invoice": usage,
        "a plan that is paid for": plans.exclude(currency=currency),
        "a budget": Budget.objects.filter(organization_id=organization_id),
    }
    return [reason for reason, rows in found.items() if rows.exists()]
