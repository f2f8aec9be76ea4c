"""Reading the ledger: an organization's usage as hourly buckets, in order of time."""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Count, QuerySet, Sum
from django.db.models.functions import TruncHour

from billing.models import UsageRecord
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


def records_between(
    *, organization_id: UUID, start: datetime, end: datetime
) -> QuerySet[UsageRecord]:
    return UsageRecord.objects.filter(
        organization_id=organization_id, occurred_at__gte=start, occurred_at__lt=end
    )
