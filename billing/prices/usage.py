"""Pricing usage as it happened: sums in order of time, each at the tier then reached.

Pure. Used alike by summaries, budgets, invoices and reports, so that they agree to the cent.
An hour is priced as at its beginning: prices change at whole hours. Within one hour the order is
by project, then key, user and model: arbitrary but always the same, and without effect where
there are no volume tiers.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from billing.prices.book import EXACT, AppliedPrice, Payer, PriceBook, UnpricedUsage
from billing.quantities import Kind, TokenCounts

Dimension = Literal["project_id", "key_id", "user_id"]
DIMENSIONS: tuple[Dimension, ...] = ("project_id", "key_id", "user_id")


@dataclass(frozen=True, slots=True)
class UsageBucket:
    """The sums of a span of time for one combination of project, key, user and model.

    A dimension that it is not summed by is None, as is the key of usage from the page.

    Attributes:
        start: when the span begins, a whole hour. It is one hour, or more of them where the
            model's prices change in none of them and do not depend on volume.
    """

    start: datetime
    model: str
    requests: int
    counts: TokenCounts
    project_id: UUID | None = None
    key_id: UUID | None = None
    user_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class PricedBucket:
    """
    Attributes:
        at_project_price: whether any of its tokens have a price of the project's own.
    """

    bucket: UsageBucket
    cost: Decimal
    at_project_price: bool = False


_Prices = list[tuple[str, Kind, AppliedPrice | None]]
"""Of each kind, which is named first."""


class Pricer:
    """Prices one organization's buckets, given in order of time.

    It carries the month's volumes, so usage of a month must be given from the month's beginning
    wherever prices have tiers. Tokens without a price cost nothing and their model is kept in
    `unpriced`; an invoice refuses to close over it.
    """

    def __init__(self, *, organization_id: UUID, book: PriceBook) -> None:
        self.unpriced: set[str] = set()
        self.book = book
        self._organization_id = organization_id
        self._own_projects = book.projects_with_prices(organization_id)
        self._is_tiered = book.is_tiered(organization_id)
        self._volumes: dict[tuple[str, str, Kind, UUID | None], int] = defaultdict(int)
        self._prices: dict[tuple[UUID | None, str, datetime], _Prices] = {}

    def dimensions(self, wanted: Collection[Dimension]) -> tuple[Dimension, ...]:
        """What usage has to be summed by to be priced and told apart by `wanted`, in the order in
        which the buckets of an hour must come."""
        needed = {*wanted, "project_id"} if self._own_projects else wanted
        return tuple(name for name in DIMENSIONS if name in needed)

    def price(self, bucket: UsageBucket) -> PricedBucket:
        """Raises ValueError for a bucket of several projects where one has prices of its own."""
        quantities = bucket.counts.billable()
        cost, at_project_price, before = Decimal(0), False, 0
        for name, kind, price in self._prices_of(bucket):
            quantity = getattr(quantities, name)
            if not quantity:
                continue
            if self._is_tiered:
                before = self._volume_add(bucket, kind, price, quantity)
            if price is None:
                self.unpriced.add(bucket.model)
            else:
                cost = EXACT.add(cost, price.cost(before, quantity))
                at_project_price = at_project_price or price.project_id is not None
        return PricedBucket(bucket, cost, at_project_price)

    def price_all(self, buckets: Iterable[UsageBucket]) -> Iterator[PricedBucket]:
        return map(self.price, buckets)

    def count(self, bucket: UsageBucket) -> None:
        """Add to the month's volumes what was priced elsewhere."""
        quantities = bucket.counts.billable()
        for name, kind, price in self._prices_of(bucket):
            self._volume_add(bucket, kind, price, getattr(quantities, name))

    def _volume_add(
        self, bucket: UsageBucket, kind: Kind, price: AppliedPrice | None, quantity: int
    ) -> int:
        """The volume that the tiers of `price` counted before `quantity` was added to it."""
        project_id = None if price is None else price.project_id
        key = (f"{bucket.start:%Y-%m}", bucket.model, kind, project_id)
        before = self._volumes[key]
        self._volumes[key] = before + quantity
        return before

    def _prices_of(self, bucket: UsageBucket) -> _Prices:
        """Each is looked up once for a model and a moment, and once more for a project that has
        prices of its own."""
        project_id = None
        if self._own_projects:
            if bucket.project_id is None:
                raise ValueError("a project has its own prices: sum usage by project")
            if bucket.project_id in self._own_projects:
                project_id = bucket.project_id
        key = (project_id, bucket.model, bucket.start)
        prices = self._prices.get(key)
        if prices is None:
            prices = [(kind.value, kind, self._price_of(kind, *key)) for kind in Kind]
            self._prices[key] = prices
        return prices

    def _price_of(
        self, kind: Kind, project_id: UUID | None, model: str, at: datetime
    ) -> AppliedPrice | None:
        payer = Payer(self._organization_id, project_id)
        try:
            return self.book.price(model=model, kind=kind, payer=payer, at=at)
        except UnpricedUsage:
            return None
