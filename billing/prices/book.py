"""The price book: the one look-up by which anything is priced. Pure: no database, no clock.

Promises, held by property tests:
- exact: no float, no rounding (the decimal context traps inexact results);
- additive: a quantity priced in parts, each with what came before it, costs the same;
- monotone: more tokens never cost less.

Tiers are marginal, as with income tax: reaching a tier changes the price of the tokens above
it, never of those below. Those of a project's own price count the tokens that the project used at
it, all others those that the organization used at all other prices; of one model and kind, within a
calendar month (UTC). So what an hour costs does not depend on which project's usage came first
(decision 0252).
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Context, Decimal, Inexact, localcontext
from itertools import takewhile
from typing import NamedTuple
from uuid import UUID

from billing.quantities import WHOLES, Kind, Quantities
from billing.tiers import model_and_tier, model_without_adapter

# 60 digits hold any quantity of tokens times any price the tables allow; if they ever did not,
# the trap makes it an error instead of a wrong cent.
EXACT = Context(prec=60, traps=[Inexact])


class UnpricedUsage(Exception):
    """Nothing in the book prices this kind of this model at that time."""

    def __init__(self, model: str, kind: Kind, at: datetime) -> None:
        super().__init__(f"no {kind} price for model {model!r} at {at.isoformat()}: add one")
        self.model, self.kind, self.at = model, kind, at


class Payer(NamedTuple):
    """Who pays for usage, and whose a price is: a project of an organization, an organization,
    or, without either, everybody: the list."""

    organization_id: UUID | None = None
    project_id: UUID | None = None

    def owners(self) -> tuple["Payer", ...]:
        """Whose prices apply to this payer; what comes first goes before what follows."""
        if self.project_id is not None:
            return (self, Payer(self.organization_id), LIST)
        return (self, LIST) if self.organization_id is not None else (LIST,)


LIST = Payer()


@dataclass(frozen=True, slots=True)
class Tier:
    """`price` for 1,000 tokens, for those after the first `start` of the month."""

    start: int
    price: Decimal


@dataclass(frozen=True, slots=True)
class PriceEntry:
    """One row of the book; `tiers` None takes an organization's or a project's price back."""

    model: str
    kind: Kind
    effective_from: datetime
    tiers: tuple[Tier, ...] | None
    owner: Payer = LIST


@dataclass(frozen=True, slots=True)
class AppliedPrice:
    """The price of a kind for a payer at a moment.

    Attributes:
        project_id: of a project's own price, which counts its volume by itself; else None.
    """

    tiers: tuple[Tier, ...]
    project_id: UUID | None

    def cost(self, before: int, quantity: int) -> Decimal:
        """The price of tokens `before` + 1 to `before + quantity` of the month, exactly."""
        if len(self.tiers) == 1:
            return EXACT.divide(EXACT.multiply(self.tiers[0].price, quantity), 1000)
        total, after = Decimal(0), before + quantity
        for index, tier in enumerate(self.tiers):
            end = self.tiers[index + 1].start if index + 1 < len(self.tiers) else after
            covered = min(after, end) - max(before, tier.start)
            if covered > 0:
                amount = EXACT.divide(EXACT.multiply(tier.price, covered), 1000)
                total = EXACT.add(total, amount)
        return total


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
        self._entries: dict[tuple[Payer, str, Kind], list[PriceEntry]] = {}
        self._tiered: set[UUID | None] = set()
        for entry in entries:
            check_tiers(entry.tiers)
            key = (entry.owner, entry.model, entry.kind)
            self._entries.setdefault(key, []).append(entry)
            if len(entry.tiers or ()) > 1:
                self._tiered.add(entry.owner.organization_id)
        for rows in self._entries.values():
            rows.sort(key=lambda entry: entry.effective_from)  # stable: keeps the writing order
        self._owners = {owner for owner, _, _ in self._entries}
        self._own_projects: dict[UUID, frozenset[UUID]] = {}
        for organization_id, project_id in self._owners:
            if organization_id is not None and project_id is not None:
                known = self._own_projects.get(organization_id, frozenset())
                self._own_projects[organization_id] = known | {project_id}

    @property
    def tiered(self) -> bool:
        """Whether any price, ever, depends on volume."""
        return bool(self._tiered)

    def is_tiered(self, organization_id: UUID) -> bool:
        """Whether any price that the organization can come to pay depends on volume."""
        return not self._tiered.isdisjoint((None, organization_id))

    def projects_with_prices(self, organization_id: UUID) -> frozenset[UUID]:
        """The organization's projects that have, had or will have a price of their own: usage of
        theirs has to be told apart to be priced."""
        return self._own_projects.get(organization_id, frozenset())

    @property
    def organizations_with_project_prices(self) -> set[UUID]:
        return set(self._own_projects)

    def would_reprice(self, *, owner: Payer, model: str, kind: Kind, at: datetime) -> bool:
        """Whether a price of `kind` for `owner` would replace what anybody pays at that moment."""
        for payer in {owner, *self._owners}:
            if owner not in payer.owners():
                continue
            closer = takewhile(lambda one: one != owner, payer.owners())
            if any(self._in_force(one, model, kind, at) is not None for one in closer):
                continue
            try:
                self.price(model=model, kind=kind, payer=payer, at=at)
            except UnpricedUsage:
                continue
            return True
        return False

    def changes(self, *, organization_id: UUID, start: datetime, end: datetime) -> set[datetime]:
        """The hours after `start` and before `end` from which another price of the organization,
        or of one of its projects, applies. An hour is priced as at its beginning, so the next one
        for any moment in it."""
        begun = {
            _next_whole_hour(entry.effective_from)
            for (owner, _, _), rows in self._entries.items()
            if owner.organization_id in (None, organization_id)
            for entry in rows
        }
        begun |= {
            _next_whole_hour(entry.effective_from)
            for rows in self._factors.values()
            for entry in rows
        }
        return {hour for hour in begun if start < hour < end}

    def price(self, *, model: str, kind: Kind, payer: Payer, at: datetime) -> AppliedPrice:
        """What applies: the project's own price, else the organization's, else the list's, else
        the fallback's. A model with an adapter that has no price of its own costs what the model
        costs. Whatever is priced is priced by this look-up.

        Raises:
            UnpricedUsage: there is none.
        """
        owners = [owner for owner in payer.owners() if owner in self._owners]
        # A kind without a price of its own costs what the kind costs that it is part of.
        for candidate in (kind, kind.part_of):
            if candidate is None:
                continue
            for owner in owners:
                found = self._in_force(owner, model, candidate, at)
                if found is not None:
                    return AppliedPrice(found, owner.project_id)
        base, tier = model_and_tier(model)
        if tier:
            factor = self.factor(tier, at)
            whole = self.price(model=base, kind=kind, payer=payer, at=at)
            tiers = (Tier(one.start, EXACT.multiply(one.price, factor)) for one in whole.tiers)
            return AppliedPrice(tuple(tiers), whole.project_id)
        if bare := model_without_adapter(model):
            return self.price(model=bare, kind=kind, payer=payer, at=at)
        raise UnpricedUsage(model, kind, at)

    def factor(self, tier: str, at: datetime) -> Decimal:
        """What a model's price is multiplied by in `tier`; 1 where nothing is set."""
        rows = self._factors.get(tier, [])
        index = bisect_right(rows, at, key=lambda entry: entry.effective_from)
        return rows[index - 1].factor if index else Decimal(1)

    def has_tiers(self, *, model: str, payer: Payer, at: datetime) -> bool:
        """Whether the price of `model` depends on the month's volume."""
        for kind in Kind:
            try:
                price = self.price(model=model, kind=kind, payer=payer, at=at)
            except UnpricedUsage:
                continue
            if len(price.tiers) > 1:
                return True
        return False

    def _in_force(
        self, owner: Payer, model: str, kind: Kind, at: datetime
    ) -> tuple[Tier, ...] | None:
        rows = self._entries.get((owner, model, kind), [])
        index = bisect_right(rows, at, key=lambda entry: entry.effective_from)
        return rows[index - 1].tiers if index else None


def ceiling(
    *,
    quantities: Quantities,
    model: str,
    payer: Payer,
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
                    for tier in book.price(model=model, kind=kind, payer=payer, at=at).tiers
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
