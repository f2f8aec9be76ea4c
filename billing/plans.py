"""Plans with a price: what a month of them costs.

What an organization chose is charged for the time that it had it, in the month's invoice, at the
price of the day it was chosen (`payments/plan_choice.py`). Plans without a price, and special
terms, are given by operators in the admin; those cost nothing here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import F, QuerySet

from billing.models import InvoiceStatus, PlanPeriod
from billing.periods import Period, month_of

_EXACT = Decimal("1e-12")
"""As a line of an invoice holds amounts."""


@dataclass(frozen=True, slots=True)
class PlanFee:
    """What a plan costs in a month, for the time that it was had: exact, since the invoice rounds
    once. `month` is its first day."""

    plan: str
    amount: Decimal
    month: date
    period: PlanPeriod


def plan_fees(*, organization_id: UUID, month: Period) -> list[PlanFee]:
    """What is on no invoice yet, of the month and of those before it, in the order it was had:
    the share of the time of each month."""
    periods = PlanPeriod.objects.filter(organization_id=organization_id).select_related("plan")
    return [fee for period in _with_fee(periods, month) for fee in _fees_of(period, month)]


def organizations_with_fees(month: Period) -> set[UUID]:
    """Those of which `plan_fees` knows some."""
    periods = _with_fee(PlanPeriod.objects.select_related("plan"), month)
    return {period.organization_id for period in periods if any(_fees_of(period, month))}


def months_with_fees(before: datetime) -> list[Period]:
    """Months that have ended, with fees that are on no invoice; the oldest first."""
    last = month_of(month_of(before).start - timedelta(days=1))
    periods = _with_fee(PlanPeriod.objects.select_related("plan"), last)
    starts = {fee.month for period in periods for fee in _fees_of(period, last)}
    return [month_of(datetime(day.year, day.month, 1, tzinfo=UTC)) for day in sorted(starts)]


def replaced_periods_end(now: datetime) -> int:
    """End what an organization chose where an operator has given it another plan since."""
    return (
        PlanPeriod.objects.filter(ended_at=None)
        .exclude(organization__plan=F("plan"))
        .update(ended_at=now)
    )


def _with_fee(periods: QuerySet[PlanPeriod], month: Period) -> QuerySet[PlanPeriod]:
    return periods.filter(amount__gt=0, began_at__lt=month.end).order_by("began_at", "pk")


def _fees_of(period: PlanPeriod, until: Period) -> Iterator[PlanFee]:
    """By month. A line names the period and the month, so that nothing is billed twice, whichever
    month is closed first, and again after its invoice was voided."""
    billed = set(
        period.lines.exclude(invoice__status=InvoiceStatus.VOID).values_list(
            "usage_month", flat=True
        )
    )
    month = month_of(period.began_at)
    while month.start < min(period.ended_at or until.end, until.end):
        began = max(period.began_at, month.start)
        ended = min(period.ended_at or month.end, month.end)
        held, whole = _microseconds(ended - began), _microseconds(month.end - month.start)
        amount = (period.amount * held / whole).quantize(_EXACT)
        if amount and month.start.date() not in billed:
            days = round(Decimal(held) / _microseconds(timedelta(days=1)), 2).normalize()
            label = f"{period.plan.name}, {days:f} of {(month.end - month.start).days} days"
            yield PlanFee(label, amount, month.start.date(), period)
        month = month_of(month.end)


def _microseconds(span: timedelta) -> int:
    return span // timedelta(microseconds=1)
