"""The price book and the one function that prices anything. Pure: no database, no clock.

Promises, held by property tests:
- exact: no float, no rounding (the decimal context traps inexact results);
- additive: a quantity priced in parts, each with what came before it, costs the same;
- monotone: more tokens never cost less.

Tiers are marginal, as with income tax: reaching a tier changes the price of the tokens above
it, never of those below. They count the tokens of one organization, model and kind within a
calendar month (UTC).
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal, Inexact, localcontext
from uuid import UUID

from billing.quantities import WHOLES, Kind, Quantities
from billing.tiers import model_and_tier

# 60 digits hold any quantity of tokens times any price the tables allow; if they ever did not,
# the trap makes it an error instead of a wrong cent.
EXACT = Context(prec=60, traps=[Inexact])


class UnpricedUsage(Exception):
    """Nothing in the book prices this kind of this model at that time."""

    def __init__(self, model: str, kind: Kind, at: datetime) -> None:
        super().__init__(f"no {kind} price for model {model!r} at {at.isoformat()}: add one")
        self.model, self.kind, self.at = model, kind, at


@dataclass(frozen=True, slots=True)
class Tier:
    """`price` for 1,000 tokens, for those after the first `start` of the month."""

    start: int
    price: Decimal


@dataclass(frozen=True, slots=True)
class PriceEntry:
    """One row of the book; `tiers` None takes an organization's own price back."""

    model: str
    kind: Kind
    effective_from: datetime
    tiers: tuple[Tier, ...] | None
    organization_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class FactorEntry:
    """A service tier's price, as a multiple of the model's."""

    tier: str
    effective_from: datetime
    factor: Decimal


class PriceBook:
    """All prices in one currency, for every organization and all time.

    Args:
        entries: in the order in which they were written: of two with the same
            `effective_from`, the later one wins.
        factors: of service tiers, in the same order.
    """

    def __init__(
        self, currency: str, entries: Iterable[PriceEntry], factors: Iterable[FactorEntry] = ()
    ) -> None:
        self.currency = currency
        self._factors: dict[str, list[FactorEntry]] = {}
        for factor in sorted(factors, key=lambda entry: entry.effective_from):
            self._factors.setdefault(factor.tier, []).append(factor)
        self._entries: dict[tuple[UUID | None, str, Kind], list[PriceEntry]] = {}
        for entry in entries:
            check_tiers(entry.tiers)
            key = (entry.organization_id, entry.model, entry.kind)
            self._entries.setdefault(key, []).append(entry)
        self.tiered = any(
            len(entry.tiers or ()) > 1 for rows in self._entries.values() for entry in rows
        )
        """Whether any price, ever, depends on volume."""
        for rows in self._entries.values():
            rows.sort(key=lambda entry: entry.effective_from)  # stable: keeps the writing order

    def is_tiered(self, organization_id: UUID) -> bool:
        """Whether any price that the organization can come to pay depends on volume."""
        return any(
            len(entry.tiers or ()) > 1
            for (owner, _, _), rows in self._entries.items()
            if owner in (None, organization_id)
            for entry in rows
        )

    def changes(self, *, organization_id: UUID, start: datetime, end: datetime) -> set[datetime]:
        """The hours after `start` and before `end` from which another price of the organization
        applies. An hour is priced as at its beginning, so the next one for any moment in it."""
        begun = {
            _next_whole_hour(entry.effective_from)
            for (owner, _, _), rows in self._entries.items()
            if owner in (None, organization_id)
            for entry in rows
        }
        begun |= {
            _next_whole_hour(entry.effective_from)
            for rows in self._factors.values()
            for entry in rows
        }
        return {hour for hour in begun if start < hour < end}

    def tiers(
        self, *, model: str, kind: Kind, organization_id: UUID | None, at: datetime
    ) -> tuple[Tier, ...]:
        """The tiers that apply: the organization's own, else the list's, else the fallback's.

        Raises:
            UnpricedUsage: there are none.
        """
        owners = (None,) if organization_id is None else (organization_id, None)
        # A kind without a price of its own costs what the kind costs that it is part of.
        for candidate in (kind, kind.part_of):
            if candidate is None:
                continue
            for owner in owners:
                found = self._in_force(owner, model, candidate, at)
                if found is not None:
                    return found
        base, tier = model_and_tier(model)
        if tier:
            factor = self.factor(tier, at)
            whole = self.tiers(model=base, kind=kind, organization_id=organization_id, at=at)
            with localcontext(EXACT):
                return tuple(Tier(one.start, one.price * factor) for one in whole)
        raise UnpricedUsage(model, kind, at)

    def factor(self, tier: str, at: datetime) -> Decimal:
        """What a model's price is multiplied by in `tier`; 1 where nothing is set."""
        rows = self._factors.get(tier, [])
        index = bisect_right(rows, at, key=lambda entry: entry.effective_from)
        return rows[index - 1].factor if index else Decimal(1)

    def has_tiers(self, *, model: str, organization_id: UUID | None, at: datetime) -> bool:
        """Whether the price of `model` depends on the month's volume."""
        for kind in Kind:
            try:
                tiers = self.tiers(model=model, kind=kind, organization_id=organization_id, at=at)
            except UnpricedUsage:
                continue
            if len(tiers) > 1:
                return True
        return False

    def _in_force(
        self, owner: UUID | None, model: str, kind: Kind, at: datetime
    ) -> tuple[Tier, ...] | None:
        rows = self._entries.get((owner, model, kind), [])
        index = bisect_right(rows, at, key=lambda entry: entry.effective_from)
        return rows[index - 1].tiers if index else None


def cost(
    *,
    quantities: Quantities,
    model: str,
    organization_id: UUID | None,
    at: datetime,
    book: PriceBook,
    used_before: Quantities | None = None,
) -> Decimal:
    """What `quantities` cost, exactly; never rounded here.

    Args:
        at: when they were used; decides which prices apply.
        used_before: what the organization had used of this model in the calendar month
            before; decides the tier. None: nothing.
    Raises:
        UnpricedUsage: a kind that was used has no price.
    """
    total, unpriced = cost_where_priced(
        quantities=quantities,
        model=model,
        organization_id=organization_id,
        at=at,
        book=book,
        used_before=used_before or Quantities(),
    )
    if unpriced is not None:
        raise unpriced
    return total


def cost_where_priced(
    *,
    quantities: Quantities,
    model: str,
    organization_id: UUID | None,
    at: datetime,
    book: PriceBook,
    used_before: Quantities,
) -> tuple[Decimal, UnpricedUsage | None]:
    """What the kinds that have a price cost, and what has none, if anything that was used.

    Kind by kind, so that a sum of usage costs what its parts cost, however it was grouped.
    """
    total, unpriced = Decimal(0), None
    with localcontext(EXACT):
        for kind, quantity in quantities.items():
            if not quantity:
                continue
            try:
                tiers = book.tiers(model=model, kind=kind, organization_id=organization_id, at=at)
            except UnpricedUsage as error:
                unpriced = unpriced or error
                continue
            total += _marginal(tiers, getattr(used_before, kind.value), quantity)
    return total, unpriced


def ceiling(
    *,
    quantities: Quantities,
    model: str,
    organization_id: UUID | None,
    at: datetime,
    book: PriceBook,
) -> Decimal:
    """The most that `quantities` can cost, whatever the month's volume: for reservations.

    The tokens of a whole are taken at the dearest kind that they may turn out to be.
    """
    total = Decimal(0)
    with localcontext(EXACT):
        for whole in WHOLES:
            quantity = getattr(quantities, whole)
            if quantity:
                dearest = max(
                    tier.price
                    for kind in (whole, *whole.parts)
                    for tier in book.tiers(
                        model=model, kind=kind, organization_id=organization_id, at=at
                    )
                )
                total += dearest * quantity / 1000
    return total


def _next_whole_hour(moment: datetime) -> datetime:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    return hour if hour == moment else hour + timedelta(hours=1)


def check_tiers(tiers: tuple[Tier, ...] | None) -> None:
    """ValueError unless tiers begin at 0, ascend, and no price is negative."""
    if tiers is None:
        return
    starts = [tier.start for tier in tiers]
    if not starts or starts[0] != 0 or starts != sorted(set(starts)):
        raise ValueError(f"tiers must start at 0 and ascend, not {starts}")
    if any(tier.price < 0 or not tier.price.is_finite() for tier in tiers):
        raise ValueError("a price is a finite number, zero or more")


def _marginal(tiers: tuple[Tier, ...], before: int, quantity: int) -> Decimal:
    """The price of tokens `before` + 1 to `before + quantity`."""
    total = Decimal(0)
    after = before + quantity
    for index, tier in enumerate(tiers):
        end = tiers[index + 1].start if index + 1 < len(tiers) else after
        covered = min(after, end) - max(before, tier.start)
        if covered > 0:
            total += tier.price * covered / 1000
    return total
