"""Usage that is on no invoice yet, priced as the next invoice will price it.

What an invoice has priced stays priced: usage that is recorded after a close counts its volume tier
from what was invoiced of its month before, wherever in the month it occurred. So the sum over
a month's invoices is what the month's volume costs.
"""

from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

from django.db.models import Max, QuerySet

from billing import ledger
from billing.models import DocumentKind, Invoice, InvoiceStatus, UsageRecord
from billing.periods import month_of, months_between
from billing.prices import PriceBook
from billing.prices.usage import Dimension, PricedBucket, Pricer
from billing.usage_totals import usage_totals


def not_invoiced(
    *, organization_id: UUID, book: PriceBook, cuts: Collection[datetime], at: datetime
) -> Iterator[PricedBucket]:
    """What waits for an invoice, with its cost, in order of time.

    What occurred since the last month that was closed is summed from the rollups and the ledger's
    tail; only what came late to a closed month, which is little, is read from the ledger.

    Args:
        cuts: whole hours at which spans must begin; they begin where prices change, too.
        at: the present.
    """
    waiting = ledger.not_invoiced(organization_id)
    first = waiting.order_by("occurred_at").values_list("occurred_at", flat=True).first()
    if first is None:
        return
    pricer = Pricer(organization_id=organization_id, book=book)
    open_from = _closed_until(organization_id) or month_of(first).start
    late = waiting.filter(occurred_at__lt=open_from)
    yield from _price(late, ledger.invoiced(organization_id), pricer, ())
    end = month_of(max(at, datetime.now(UTC))).end
    # Volumes are counted anew in each month.
    starts = {open_from, *cuts, *months_between(open_from, end)}
    starts |= book.changes(organization_id=organization_id, start=open_from, end=end)
    yield from pricer.price_all(
        usage_totals(
            organization_id=organization_id,
            starts=sorted(start for start in starts if open_from <= start < end),
            end=end,
            dimensions=pricer.dimensions(()),
        )
    )


def _closed_until(organization_id: UUID) -> datetime | None:
    """The end of the last month that has an invoice: nothing that occurred later is on one."""
    invoices = Invoice.objects.filter(organization_id=organization_id, kind=DocumentKind.INVOICE)
    open_or_void = [InvoiceStatus.CLOSING, InvoiceStatus.VOID]
    last = invoices.exclude(status__in=open_or_void).aggregate(last=Max("period_end"))["last"]
    return cast(datetime | None, last)


def on_invoice(
    *, organization_id: UUID, invoice_id: int, pricer: Pricer, dimensions: tuple[Dimension, ...]
) -> Iterator[PricedBucket]:
    """The same for what is on an invoice that is being drafted, hour by hour, by `dimensions` and
    by project where one has its own prices.

    `pricer` may be asked afterwards which models had no price.
    """
    records = UsageRecord.objects.filter(organization_id=organization_id)
    earlier = ledger.invoiced(organization_id).exclude(invoice_id=invoice_id)
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
