"""Usage that no invoice has taken up, priced as the next invoice will price it.

What an invoice has priced stays priced: usage that is told after a close counts its volume tier
from what was invoiced of its month before, wherever in the month it occurred. So the sum over
a month's invoices is what the month's volume costs.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from billing import ledger
from billing.models import UsageRecord
from billing.periods import month_of
from billing.prices import PriceBook
from billing.prices.usage import PricedBucket, Pricer


def not_invoiced(
    *,
    organization_id: UUID,
    book: PriceBook,
    dimensions: tuple[str, ...],
    before: datetime | None = None,
    pricer: Pricer | None = None,
) -> Iterator[PricedBucket]:
    """Hourly buckets with their cost, in order of time.

    Args:
        before: only usage that occurred before this.
        pricer: prices them; the caller may ask it for `unpriced` models afterwards.
    """
    pricer = pricer or Pricer(organization_id=organization_id, book=book)
    records = UsageRecord.objects.filter(organization_id=organization_id)
    if before is not None:
        records = records.filter(occurred_at__lt=before)
    waiting = records.filter(invoice=None)
    if book.tiered:
        first = waiting.order_by("occurred_at").values_list("occurred_at", flat=True).first()
        if first is None:
            return
        invoiced = records.filter(invoice__isnull=False, occurred_at__gte=month_of(first).start)
        for bucket in ledger.buckets(invoiced, dimensions=()):
            pricer.price(bucket)
    yield from pricer.price_all(ledger.buckets(waiting, dimensions=dimensions))
