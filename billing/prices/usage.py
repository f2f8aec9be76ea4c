"""Pricing usage as it happened: sums in order of time, each at the tier then reached.

Pure. Used alike by summaries, budgets, invoices and reports, so that they agree to the cent.
An hour is priced as at its beginning: prices change at whole hours. Within one hour the order is
by project, then key, user and model: arbitrary but always the same, and without effect where
there are no volume tiers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, localcontext
from uuid import UUID

from billing.prices.book import EXACT, PriceBook, UnpricedUsage, cost_where_priced
from billing.quantities import Kind, Quantities, TokenCounts


@dataclass(frozen=True, slots=True)
class UsageBucket:
    """The sums of a span of time for one combination of project, key, user and model.

    A dimension that was not asked for is None, as is the key of usage from the page.

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
    bucket: UsageBucket
    cost: Decimal


class Pricer:
    """Prices one organization's buckets, given in order of time.

    It carries the month's volumes, so usage of a month must be given from the month's beginning
    wherever prices have tiers. Tokens without a price cost nothing and their model is kept in
    `unpriced`; an invoice refuses to close over it.
    """

    def __init__(self, *, organization_id: UUID, book: PriceBook) -> None:
        self.unpriced: set[str] = set()
        self._organization_id = organization_id
        self.book = book
        self._volumes: dict[tuple[str, str], Quantities] = {}
        self._is_tiered = book.is_tiered(organization_id)
        self._flat_prices: dict[tuple[str, datetime], list[tuple[str, Decimal | None]]] = {}

    def price(self, bucket: UsageBucket) -> Decimal:
        quantities = bucket.counts.billable()
        if not self._is_tiered:
            return self._flat(bucket, quantities)
        volume_key = (f"{bucket.start:%Y-%m}", bucket.model)
        before = self._volumes.get(volume_key, Quantities())
        self._volumes[volume_key] = before + quantities
        amount, unpriced = cost_where_priced(
            quantities=quantities,
            model=bucket.model,
            organization_id=self._organization_id,
            at=bucket.start,
            book=self.book,
            used_before=before,
        )
        if unpriced is not None:
            self.unpriced.add(bucket.model)
        return amount

    def _flat(self, bucket: UsageBucket, quantities: Quantities) -> Decimal:
        """Where no price depends on volume: each is looked up once for a model and a moment."""
        key = (bucket.model, bucket.start)
        prices = self._flat_prices.get(key)
        if prices is None:
            prices = self._flat_prices[key] = [
                (kind.value, self._flat_price(kind, bucket)) for kind in Kind
            ]
        total = Decimal(0)
        for name, price in prices:
            quantity = getattr(quantities, name)
            if not quantity:
                continue
            if price is None:
                self.unpriced.add(bucket.model)
            else:
                total = EXACT.add(total, EXACT.divide(EXACT.multiply(price, quantity), 1000))
        return total

    def _flat_price(self, kind: Kind, bucket: UsageBucket) -> Decimal | None:
        try:
            with localcontext(EXACT):
                [tier] = self.book.tiers(
                    model=bucket.model,
                    kind=kind,
                    organization_id=self._organization_id,
                    at=bucket.start,
                )
        except UnpricedUsage:
            return None
        return tier.price

    def price_all(self, buckets: Iterable[UsageBucket]) -> Iterator[PricedBucket]:
        for bucket in buckets:
            yield PricedBucket(bucket, self.price(bucket))
