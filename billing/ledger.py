"""Reading the ledger: an organization's usage as hourly buckets, in order of time."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncHour

from billing.models import Invoice, InvoiceStatus, UsageRecord
from billing.prices.usage import DIMENSIONS, Dimension, UsageBucket
from billing.quantities import Kind, TokenCounts

SUMS = {"requests": Count("pk"), **{kind.value: Sum(kind.column) for kind in Kind}}


def buckets(
    records: QuerySet[UsageRecord], *, dimensions: tuple[Dimension, ...] = DIMENSIONS
) -> Iterator[UsageBucket]:
    """Sum `records` by hour, model and `dimensions`, in the order that pricing needs."""
    by = (*dimensions, "model")
    rows = (
        records.annotate(hour=TruncHour("occurred_at", tzinfo=UTC))
        .values("hour", *by)
        .annotate(**SUMS)
        .order_by("hour", *by)
    )
    for row in rows.iterator():
        yield bucket_of(row)


def bucket_of(row: dict[str, object]) -> UsageBucket:
    """A row of `hour`, `model`, the `SUMS`, and any of the dimensions."""
    values: dict[str, object] = {name: row[name] for name in DIMENSIONS if name in row}
    counts = {name: row[name] for name in SUMS if name != "requests"}
    return UsageBucket(
        start=row["hour"],  # type: ignore[arg-type]
        model=row["model"],  # type: ignore[arg-type]
        requests=row["requests"],  # type: ignore[arg-type]
        counts=TokenCounts(**counts),  # type: ignore[arg-type]
        **values,  # type: ignore[arg-type]
    )


def not_invoiced(organization_id: UUID) -> QuerySet[UsageRecord]:
    """Return the records on no invoice; those on one that is `closing` count as on none."""
    records = UsageRecord.objects.filter(organization_id=organization_id)
    # Asked first: as a part of the condition it would keep the index `usage_not_invoiced` unused.
    closing = _closing(organization_id)
    if closing is None:
        return records.filter(invoice=None)
    return records.filter(Q(invoice=None) | Q(invoice_id=closing))


def invoiced(organization_id: UUID) -> QuerySet[UsageRecord]:
    """Return the records on an invoice that has been priced."""
    records = UsageRecord.objects.filter(organization_id=organization_id, invoice__isnull=False)
    closing = _closing(organization_id)
    return records if closing is None else records.exclude(invoice_id=closing)


def _closing(organization_id: UUID) -> int | None:
    """Return the invoice that is being closed: one month after the other is."""
    closing = Invoice.objects.filter(organization_id=organization_id, status=InvoiceStatus.CLOSING)
    return closing.values_list("pk", flat=True).first()


def records_between(
    *, organization_id: UUID, start: datetime, end: datetime
) -> QuerySet[UsageRecord]:
    return UsageRecord.objects.filter(
        organization_id=organization_id, occurred_at__gte=start, occurred_at__lt=end
    )
