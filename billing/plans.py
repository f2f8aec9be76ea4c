"""Plans with a price: what a month of them costs.

What an organization chose is charged by the day, in the month's invoice, at the price of the day it
was chosen (`payments/plan_choice.py`). Plans without a price, and special terms, are given by
operators in the admin; those cost nothing here.
"""

from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import F, Q, QuerySet

from billing.models import PlanPeriod
from billing.periods import Period
from billing.rounding import to_cents


@dataclass(frozen=True, slots=True)
class PlanFee:
    """What a plan costs in a month, for the days that it was had."""

    plan: str
    amount: Decimal


def plan_fees(*, organization_id: UUID, month: Period) -> list[PlanFee]:
    """By plan, in the order they were had: the share of each day of the month, rounded once."""
    days = monthrange(month.start.year, month.start.month)[1]
    fees = []
    for period in _periods_in(month).filter(organization_id=organization_id).select_related("plan"):
        began = max(period.began_at, month.start)
        ended = min(period.ended_at or month.end, month.end)
        # A day is that of the plan at its end: of a change at noon the later plan has it.
        share = (ended.date() - began.date()).days
        if share:
            amount = to_cents(period.amount * share / days)
            fees.append(PlanFee(f"{period.plan.name}, {share} of {days} days", amount))
    return [fee for fee in fees if fee.amount]


def organizations_with_fees(month: Period) -> set[UUID]:
    """Those that had a plan with a price in the month."""
    return set(_periods_in(month).filter(amount__gt=0).values_list("organization_id", flat=True))


def replaced_periods_end(now: datetime) -> int:
    """End what an organization chose where an operator has given it another plan since."""
    return (
        PlanPeriod.objects.filter(ended_at=None)
        .exclude(organization__plan=F("plan"))
        .update(ended_at=now)
    )


def _periods_in(month: Period) -> QuerySet[PlanPeriod]:
    return PlanPeriod.objects.filter(
        Q(ended_at=None) | Q(ended_at__gt=month.start), began_at__lt=month.end
    )
