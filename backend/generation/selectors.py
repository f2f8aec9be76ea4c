"""Reads of generations, scoped by the caller."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, DateTimeField, DurationField, F, Func, Sum, Value

from backend.accounts.principal import Principal
from backend.generation.models import OPEN_STATES, Generation
from backend.generation.request import Endpoint
from backend.platform.errors import NotFound


def generation_get(*, generation_id: UUID, principal: Principal) -> Generation:
    """The caller's generation: of the same organization, and of the same user in it.

    Raises:
        NotFound: there is none, or it is another user's.
    """
    row = Generation.objects.filter(
        pk=generation_id,
        organization_id=principal.organization_id,
        user_id=principal.user_id,
    ).first()
    if row is None:
        raise NotFound(f"There is no generation {generation_id}.")
    return row


def generation_way(
    *, generation_id: UUID, organization_id: UUID
) -> tuple[dict[str, float] | None, str]:
    """The milliseconds that a generation was at each station, None where they are not known; and
    whose answer it got, "" where it was computed."""
    rows = Generation.objects.filter(pk=generation_id, organization_id=organization_id)
    return rows.values_list("stations", "answer_source").first() or (None, "")


@dataclass(frozen=True, slots=True)
class EndpointUsage:
    """Sums of one bucket and group; a dimension that is not grouped by is None."""

    start: datetime
    quantity: int
    requests: int
    project_id: UUID | None = None
    user_id: UUID | None = None
    api_key_id: UUID | None = None
    model: str | None = None


def endpoint_usage(
    *,
    endpoints: Sequence[Endpoint],
    column: str,
    organization_id: UUID,
    start: datetime,
    end: datetime,
    width: timedelta,
    group_by: Sequence[str],
    only: Mapping[str, Sequence[Any]],
) -> list[EndpointUsage]:
    """What some endpoints have used; the ledger does not tell them apart, their generations do.

    Of generations that ended in [start, end), in buckets of `width` from `start`.

    Args:
        endpoints: some that an index of `Generation` is for.
        column: what is summed up, a column of generations.
        group_by, only: columns of generations; values of them, none of which restrict nothing.
    """
    rows = Generation.objects.filter(
        organization_id=organization_id,
        endpoint__in=endpoints,
        finished_at__gte=start,
        finished_at__lt=end,
        **{f"{column}__in": values for column, values in only.items() if values},
    ).exclude(state__in=OPEN_STATES)
    bucket = Func(
        Value(width, DurationField()),
        F("finished_at"),
        Value(start, DateTimeField()),
        function="date_bin",
        output_field=DateTimeField(),
    )
    sums = rows.annotate(bucket=bucket).values("bucket", *group_by)
    counted = sums.annotate(quantity=Sum(column), requests=Count("pk")).order_by("bucket")
    return [
        EndpointUsage(
            row["bucket"],
            row["quantity"],
            row["requests"],
            **{column: row[column] for column in group_by},
        )
        for row in counted
    ]
