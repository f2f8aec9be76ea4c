"""What was spent in a month, from the ledger; and counters rebuilt from ledger and credit."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q
from django.db.models.functions import Now, TruncHour

from backend.platform.redis import sync_client
from billing import ledger
from billing.budgets import counters
from billing.budgets.counters import CREDIT, Counter
from billing.budgets.credit import credit_state
from billing.budgets.limits import BudgetLimit, OrganizationLimits
from billing.periods import month_of
from billing.prices.loading import price_book
from billing.prices.usage import Pricer

MONTH_CACHE_TTL = timedelta(days=10)
"""How long after its month a budget's counter stays."""
CREDIT_CACHE_TTL = timedelta(seconds=60)
"""How long what is left of the credit is counted down before it is computed anew."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What one limit has used up of its month.

    Attributes:
        total: exact.
        recent: generations in `total` that may still be settled, or just were.
    """

    total: Decimal
    recent: list[UUID]


def spent_by_limit(
    limits: OrganizationLimits, bound: Sequence[BudgetLimit], *, at: datetime
) -> dict[BudgetLimit, Spent]:
    """What each limit has used up of the month of `at`, all from one snapshot of the ledger.

    One statement, hence one snapshot: `total` and `recent` speak of the same records.
    """
    month = month_of(at)
    dimensions = ("project_id", "key_id", "model")
    since = Now() - timedelta(seconds=2 * counters.RECENT_S)
    rows = (
        ledger.records_between(
            organization_id=limits.organization_id, start=month.start, end=month.end
        )
        .annotate(hour=TruncHour("occurred_at"))
        .values("hour", *dimensions)
        .annotate(
            **ledger.SUMS,
            recent=ArrayAgg("generation_id", filter=Q(recorded_at__gte=since), default=[]),
        )
        .order_by("hour", *dimensions)
    )
    pricer = Pricer(organization_id=limits.organization_id, book=price_book(limits.currency))
    totals = {limit: Decimal(0) for limit in bound}
    recent: dict[BudgetLimit, list[UUID]] = {limit: [] for limit in bound}
    for row in rows:
        bucket = ledger.bucket_of(row)
        cost = pricer.price(bucket).cost
        for limit in bound:
            if limit.binds(project_id=bucket.project_id, key_id=bucket.key_id):
                totals[limit] += cost
                recent[limit] += row["recent"]
    return {limit: Spent(totals[limit], recent[limit]) for limit in bound}


def rebuild_counters(
    limits: OrganizationLimits, bound: Sequence[BudgetLimit], *, at: datetime
) -> None:
    """Set the counters of the month of `at`, and credit's; safe at any time, by anyone."""
    monthly = [limit for limit in bound if limit.scope != CREDIT]
    if monthly:
        lifetime = month_of(at).end - at + MONTH_CACHE_TTL
        for limit, spent in spent_by_limit(limits, monthly, at=at).items():
            counter = Counter.at(limits.organization_id, limit.name, at)
            _rebuild(counter, spent.total, None, lifetime, spent.recent)
    if len(monthly) < len(bound):
        state = credit_state(limits.organization_id, at=at)
        lifetime = CREDIT_CACHE_TTL
        if state.expires_at is not None:
            lifetime = min(lifetime, state.expires_at - at)
        counter = Counter.at(limits.organization_id, CREDIT, at)
        _rebuild(counter, Decimal(0), state.remaining, lifetime, state.recent)


def _rebuild(
    counter: Counter,
    spent: Decimal,
    ceiling: Decimal | None,
    lifetime: timedelta,
    recent: Iterable[UUID],
) -> None:
    sync_client().eval(
        counters.REBUILD,
        len(counter.keys),
        *counter.keys,
        counters.amount_up(spent),
        "" if ceiling is None else counters.amount_down(ceiling),
        time.time(),
        counters.RECENT_S,
        # A request that rebuilt a counter must find it, so it lives for a second at least.
        max(1, int(lifetime.total_seconds())),
        *map(str, recent),
    )
