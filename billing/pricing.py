"""Usage that is on no invoice yet, priced as the next invoice will price it.

What an invoice has priced stays priced: usage that is recorded after a close counts its volume tier
from what was invoiced of its month before, wherever in the month it occurred. So the sum over
a month's invoices is what the month's volume costs.
"""

from collections.abc import Iterator
from uuid import UUID

from django.db.models import QuerySet

from billing import ledger
from billing.models import UsageRecord
from billing.periods import month_of
from billing.prices import PriceBook
from billing.prices.usage import Dimension, PricedBucket, Pricer


def not_invoiced(
    *, organization_id: UUID, book: PriceBook, dimensions: tuple[Dimension, ...]
) -> Iterator[PricedBucket]:
    """Hourly buckets of what waits for an invoice, with their cost, in order of time; by
    `dimensions`, and by project where one has its own prices."""
    records = UsageRecord.objects.filter(organization_id=organization_id)
    pricer = Pricer(organization_id=organization_id, book=book)
    yield from _price(
        records.filter(invoice=None), records.filter(invoice__isnull=False), pricer, dimensions
    )


def on_invoice(
    *, organization_id: UUID, invoice_id: int, pricer: Pricer, dimensions: tuple[Dimension, ...]
) -> Iterator[PricedBucket]:
    """The same for what is on an invoice that is being drafted.

    `pricer` may be asked afterwards which models had no price.
    """
    records = UsageRecord.objects.filter(organization_id=organization_id)
    earlier = records.filter(invoice__isnull=False).exclude(invoice_id=invoice_id)
    yield from _price(records.filter(invoice_id=invoice_id), earlier, pricer, dimensions)


def _price(
    waiting: QuerySet[UsageRecord],
    invoiced: QuerySet[UsageRecord],
    pricer: Pricer,
    dimensions: tuple[Dimension, ...],
) -> Iterator[PricedBucket]:
    if pricer.book.tiered:
        first = waiting.order_by("occurred_at").values_list("occurred_at", flat=True).first()
        if first is None:
            return
        before = invoiced.filter(occurred_at__gte=month_of(first).start)
        for bucket in ledger.buckets(before, dimensions=pricer.dimensions(())):
            pricer.count(bucket)
    dimensions = pricer.dimensions(dimensions)
    yield from pricer.price_all(ledger.buckets(waiting, dimensions=dimensions))
