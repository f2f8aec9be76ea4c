"""Prepaid credit: what is left of it, what an invoice takes from it, what expires.

The credit ledger is written when something final happens: a grant, the monthly close, an
expiry. What is left in between follows from it and from the usage that no invoice has taken up
yet, by the pure function `consume`. So inline enforcement and the close cannot disagree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Sum

from backend.platform.redis import sync_client
from billing import ledger
from billing.accounts import terms_of
from billing.models import CreditEntry, CreditKind, UsageRecord
from billing.periods import month_of
from billing.prices.loading import price_book
from billing.prices.usage import Pricer
from billing.pricing import not_invoiced

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Grant:
    """Credit that can be used from the hour it was granted until it expires."""

    id: int
    remaining: Decimal
    granted_at: datetime
    expires_at: datetime | None = None

    def covers(self, hour: datetime) -> bool:
        return self.granted_at < hour + HOUR and (self.expires_at is None or hour < self.expires_at)


@dataclass(frozen=True, slots=True)
class Consumption:
    """What spending took from each grant, and what no grant covered."""

    taken: dict[int, Decimal]
    uncovered: Decimal


def consume(grants: Sequence[Grant], spending: Iterable[tuple[datetime, Decimal]]) -> Consumption:
    """Cover costs by grants: in order of time, from the grant that expires first.

    Promises: taken from a grant is at most what remained of it, and the sum of all taken plus
    `uncovered` is the sum of the spending.
    """
    never = datetime.max.replace(tzinfo=UTC)
    order = sorted(
        grants, key=lambda grant: (grant.expires_at or never, grant.granted_at, grant.id)
    )
    left = {grant.id: grant.remaining for grant in order}
    uncovered = Decimal(0)
    for hour, cost in spending:
        for grant in order:
            if not cost:
                break
            if left[grant.id] and grant.covers(hour):
                taken = min(left[grant.id], cost)
                left[grant.id] -= taken
                cost -= taken
        uncovered += cost
    taken_by = {grant.id: grant.remaining - left[grant.id] for grant in order}
    return Consumption({key: value for key, value in taken_by.items() if value}, uncovered)


@dataclass(frozen=True, slots=True)
class CreditState:
    """An organization's credit at a moment.

    Attributes:
        remaining: what can still be spent.
        ceiling: what may have been spent in this calendar month by the time the credit is used
            up. It does not move while credit is spent, only with grants and expiries.
    """

    remaining: Decimal
    ceiling: Decimal


def credit_state(organization_id: UUID, *, at: datetime) -> CreditState:
    """What is left, after all usage that no invoice has taken up."""
    month = month_of(at)
    spending = _spending_not_invoiced(organization_id)
    grants = open_grants(organization_id)
    taken = consume(grants, spending).taken
    remaining = sum(
        (
            grant.remaining - taken.get(grant.id, Decimal(0))
            for grant in grants
            if grant.expires_at is None or at < grant.expires_at
        ),
        Decimal(0),
    )
    this_month = _spent_since(organization_id, month.start)
    return CreditState(remaining, this_month + remaining)


def open_grants(organization_id: UUID) -> list[Grant]:
    """Grants with what the credit ledger has left of them; used up and expired ones not."""
    entries = CreditEntry.objects.filter(organization_id=organization_id)
    grants = entries.filter(kind=CreditKind.GRANT).annotate(used=Sum("uses__amount"))
    closed = set(entries.filter(kind=CreditKind.EXPIRY).values_list("grant_id", flat=True))
    return [
        Grant(entry.pk, entry.amount + (entry.used or 0), entry.created_at, entry.expires_at)
        for entry in grants.order_by("pk")
        if entry.pk not in closed and entry.amount + (entry.used or 0) > 0
    ]


CEILING_KEPT_S = 60


def kept_ceiling(organization_id: UUID, *, at: datetime) -> Decimal:
    """`CreditState.ceiling`, computed once a minute for all processes."""
    client, key = sync_client(), _ceiling_key(organization_id)
    kept = client.hget(key, f"{at:%Y%m}")
    if kept is not None:
        return Decimal(kept.decode() if isinstance(kept, bytes) else kept)
    ceiling = credit_state(organization_id, at=at).ceiling
    client.hset(key, f"{at:%Y%m}", str(ceiling))
    client.expire(key, CEILING_KEPT_S)
    return ceiling


def forget_ceiling(organization_id: UUID) -> None:
    """Called where grants and expiries are written."""
    sync_client().delete(_ceiling_key(organization_id))


def _ceiling_key(organization_id: UUID) -> str:
    return f"billing:{{{organization_id}}}:credit-ceiling"


def _spending_not_invoiced(organization_id: UUID) -> list[tuple[datetime, Decimal]]:
    book = price_book(terms_of(organization_id).currency)
    waiting = not_invoiced(organization_id=organization_id, book=book, dimensions=())
    return [(priced.bucket.hour, priced.cost) for priced in waiting]


def _spent_since(organization_id: UUID, start: datetime) -> Decimal:
    book = price_book(terms_of(organization_id).currency)
    pricer = Pricer(organization_id=organization_id, book=book)
    records = UsageRecord.objects.filter(organization_id=organization_id, occurred_at__gte=start)
    priced = pricer.price_all(ledger.buckets(records, dimensions=()))
    return sum((each.cost for each in priced), Decimal(0))
