"""Prepaid credit: what is left of it, what an invoice takes from it, what expires.

The credit ledger is written when something final happens: a grant, the monthly close, an
expiry. What is left in between follows from it and from the usage that is on no invoice
yet, by the pure function `consume`. So inline enforcement and the close cannot disagree.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import F, Max, Q, Sum
from django.db.models.functions import Coalesce

from billing.accounts import terms_of
from billing.models import CreditEntry, CreditKind
from billing.prices.loading import price_book
from billing.pricing import not_invoiced
from billing.snapshots import one_snapshot

HOUR = timedelta(hours=1)
LEFT = F("amount") + Coalesce(Sum("uses__amount"), Decimal(0))
"""What the credit ledger has left of a grant."""


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
class Debt:
    """What was taken back of the payment for a grant beyond what the ledger had left of it."""

    amount: Decimal
    since: datetime


def covered(grants: Sequence[Grant], debts: Sequence[Debt]) -> tuple[list[Grant], Decimal]:
    """Grants less what they have to make up of debts, from the grant that expires first; and what
    none makes up. One that had expired when a debt arose makes up nothing of it.

    Promises: the sum that remains, less the debt that is left, is the sum of both before.
    """
    left = {grant.id: grant.remaining for grant in grants}
    open_debt = Decimal(0)
    for debt in debts:
        owed = debt.amount
        for grant in _in_order(grants):
            if grant.expires_at is None or grant.expires_at > debt.since:
                taken = min(left[grant.id], owed)
                left[grant.id] -= taken
                owed -= taken
        open_debt += owed
    return [replace(grant, remaining=left[grant.id]) for grant in grants], open_debt


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
    order = _in_order(grants)
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


def _in_order(grants: Sequence[Grant]) -> list[Grant]:
    """Those that expire first come first."""
    never = datetime.max.replace(tzinfo=UTC)
    return sorted(grants, key=lambda grant: (grant.expires_at or never, grant.granted_at, grant.id))


@dataclass(frozen=True, slots=True)
class CreditState:
    """An organization's credit at a moment.

    Attributes:
        remaining: what can still be spent; below zero, what is owed.
        expires_at: when a part of it expires next; None: never.
    """

    remaining: Decimal
    expires_at: datetime | None


def credit_state(organization_id: UUID, *, at: datetime) -> CreditState:
    """What is left, after all usage that is on no invoice yet; all from one snapshot."""
    with one_snapshot():
        grants, debt = grants_and_debt(organization_id)
        taken = consume(grants, _spending_not_invoiced(organization_id, grants, at=at)).taken
    left = {
        grant: grant.remaining - taken.get(grant.id, Decimal(0))
        for grant in grants
        if grant.expires_at is None or at < grant.expires_at
    }
    expiries = [grant.expires_at for grant in left if left[grant] and grant.expires_at]
    remaining = sum(left.values(), Decimal(0)) - debt
    return CreditState(remaining, min(expiries, default=None))


def open_grants(organization_id: UUID) -> list[Grant]:
    """Grants of which something is left: not used up, not written off, not owed."""
    return [grant for grant in grants_and_debt(organization_id)[0] if grant.remaining]


def credit_debt(organization_id: UUID) -> Decimal:
    """What is owed because payments for credit were taken back, after all credit there is."""
    return grants_and_debt(organization_id)[1]


def grants_and_debt(organization_id: UUID) -> tuple[list[Grant], Decimal]:
    """What the credit ledger has left of each grant, debts made up, and the debt that remains; of
    grants in the organization's currency."""
    grants = CreditEntry.objects.filter(
        kind=CreditKind.GRANT,
        organization_id=organization_id,
        currency=terms_of(organization_id).currency,
    )
    taken_back = Max("uses__created_at", filter=Q(uses__kind=CreditKind.REFUND))
    rows = grants.annotate(left=LEFT, taken_back_at=taken_back).exclude(left=0).order_by("pk")
    known = [
        Grant(row.pk, row.left, row.created_at, row.expires_at) for row in rows if row.left > 0
    ]
    return covered(known, [Debt(-row.left, row.taken_back_at) for row in rows if row.left < 0])


def organizations_with_expired_credit(*, now: datetime) -> set[UUID]:
    """Whose grants have expired and are not written off."""
    grants = CreditEntry.objects.filter(kind=CreditKind.GRANT, expires_at__lt=now)
    left = grants.annotate(left=LEFT).filter(left__gt=0)
    return set(left.values_list("organization_id", flat=True))


def _spending_not_invoiced(
    organization_id: UUID, grants: Sequence[Grant], *, at: datetime
) -> list[tuple[datetime, Decimal]]:
    """Costs by the hours from which other grants cover them."""
    book = price_book(terms_of(organization_id).currency, organization_id)
    hours = {moment.replace(minute=0, second=0, microsecond=0) for moment in _borders(grants)}
    waiting = not_invoiced(organization_id=organization_id, book=book, cuts=hours, at=at)
    return [(priced.bucket.start, priced.cost) for priced in waiting]


def _borders(grants: Sequence[Grant]) -> Iterator[datetime]:
    """Hours at whose beginning `Grant.covers` may change."""
    for grant in grants:
        yield grant.granted_at
        if grant.expires_at is not None:
            yield grant.expires_at
            yield grant.expires_at + HOUR
