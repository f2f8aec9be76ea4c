"""Pricing usage as it happened: hourly sums, in order of time, each at the tier then reached.

Pure. Used alike by summaries, budgets, invoices and reports, so that they agree to the cent.
Within one hour the order is by project, then key, user and model: arbitrary but always the
same, and without effect where there are no volume tiers.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from billing.prices.book import PriceBook, UnpricedUsage, cost
from billing.quantities import Quantities, TokenCounts


@dataclass(frozen=True, slots=True)
class UsageBucket:
    """The sums of one hour for one combination of project, key, user and model.

    A dimension that was not asked for is None, as is the key of usage from the page.
    """

    hour: datetime
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
    """Prices one organization's buckets, told to it in order of time.

    It carries the month's volumes, so usage of a month must be told from the month's beginning
    wherever prices have tiers. Usage of a model without a price costs nothing and is kept in
    `unpriced`; an invoice refuses to close over it.
    """

    def __init__(self, *, organization_id: UUID, book: PriceBook) -> None:
        self.unpriced: set[str] = set()
        self._organization_id = organization_id
        self.book = book
        self._volumes: dict[tuple[str, str], Quantities] = {}

    def price(self, bucket: UsageBucket) -> Decimal:
        quantities = bucket.counts.billable()
        volume_key = (f"{bucket.hour:%Y-%m}", bucket.model)
        before = self._volumes.get(volume_key, Quantities())
        self._volumes[volume_key] = before + quantities
        try:
            return cost(
                quantities=quantities,
                model=bucket.model,
                organization_id=self._organization_id,
                at=bucket.hour,
                book=self.book,
                used_before=before,
            )
        except UnpricedUsage:
            self.unpriced.add(bucket.model)
            return Decimal(0)

    def price_all(self, buckets: Iterable[UsageBucket]) -> Iterator[PricedBucket]:
        for bucket in buckets:
            yield PricedBucket(bucket, self.price(bucket))
