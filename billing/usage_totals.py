"""An organization's usage in sums, as the ledger has it at this moment, without reading all of it.

Whole hours come from the rollups. What these lack is added from the ledger: the records whose
event is not in the event store, which `UnaggregatedUsage` lists. Parts of an hour come from the
ledger alone.

A rollup is the sum of the stored events at every commit, and one statement is one snapshot. So
until the transaction that stores an event commits, its record is added and its rollup does not
count it, and from then on the other way round: never both, never neither, whatever aggregators
and repairs do meanwhile. For figures that people look at; invoices, budgets and credit read the
ledger.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from django.db import connection

from billing.prices.usage import UsageBucket
from billing.quantities import TOKEN_COLUMNS, TokenCounts

Dimension = Literal["project_id", "user_id", "key_id"]
Column = Literal[Dimension, "model"]
DIMENSIONS: tuple[Dimension, ...] = ("project_id", "user_id", "key_id")

HOUR = timedelta(hours=1)

_GROUPS = ", ".join((*DIMENSIONS, "model"))
_TOKENS = ", ".join(TOKEN_COLUMNS)
_ROLLUPS = f"""
SELECT hour AS moment, {_GROUPS}, requests, {_TOKENS} FROM billing_usagerollup
WHERE organization_id = %(organization)s AND hour >= %(whole_start)s AND hour < %(whole_end)s
"""  # noqa: S608 -- constants of this module
_NOT_IN_ROLLUPS = f"""
SELECT occurred_at, {_GROUPS}, 1, {_TOKENS}
FROM billing_unaggregatedusage AS listed JOIN billing_usagerecord AS record USING (generation_id)
WHERE listed.organization_id = %(organization)s
  AND occurred_at >= %(whole_start)s AND occurred_at < %(whole_end)s
  AND NOT EXISTS (
    SELECT 1 FROM billing_usageevent AS event WHERE event.event_id = listed.generation_id
  )
"""  # noqa: S608 -- constants of this module
_PARTS_OF_HOURS = f"""
SELECT occurred_at, {_GROUPS}, 1, {_TOKENS} FROM billing_usagerecord
WHERE organization_id = %(organization)s AND (
    occurred_at >= %(start)s AND occurred_at < %(whole_start)s
    OR occurred_at >= %(whole_end)s AND occurred_at < %(end)s
)
"""  # noqa: S608 -- constants of this module


def usage_totals(
    *,
    organization_id: UUID,
    starts: Sequence[datetime],
    end: datetime,
    dimensions: Sequence[Dimension] = (),
    only: Mapping[Column, Sequence[Any]] | None = None,
    from_ledger: bool = False,
) -> Iterator[UsageBucket]:
    """Usage summed by span, `dimensions` and model, in that order.

    Args:
        starts: where spans begin, ascending; the last one lasts until `end`. Between the first
            whole hour and the last they are whole hours.
        only: restricts dimensions to some values.
        from_ledger: read no rollups; spans may then be of any length.
    """
    only = only or {}
    start = starts[0]
    whole_start, whole_end = (end, end) if from_ledger else _whole_hours(start, end)
    by = ", ".join((*dimensions, "model"))
    sums = ", ".join(f"sum({column})::bigint" for column in ("requests", *TOKEN_COLUMNS))
    restricted = " AND ".join(f"{name} = ANY(%(only_{name})s)" for name in only) or "true"
    statement = f"""
        SELECT (%(starts)s::timestamptz[])[width_bucket(moment, %(starts)s::timestamptz[])],
            {by}, {sums}
        FROM ({_ROLLUPS} UNION ALL {_NOT_IN_ROLLUPS} UNION ALL {_PARTS_OF_HOURS}) AS usage
        WHERE {restricted} GROUP BY 1, {by} ORDER BY 1, {by}
    """  # noqa: S608 -- names are of the types above
    parameters: dict[str, Any] = {
        "organization": organization_id,
        "starts": list(starts),
        "start": start,
        "whole_start": whole_start,
        "whole_end": whole_end,
        "end": end,
        **{f"only_{name}": list(values) for name, values in only.items()},
    }
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        for span, *values in cursor:
            groups, numbers = values[: len(dimensions) + 1], values[len(dimensions) + 1 :]
            yield UsageBucket(
                start=span,
                model=groups[-1],
                requests=numbers[0],
                counts=TokenCounts(*numbers[1:]),
                **dict(zip(dimensions, groups, strict=False)),
            )


def _whole_hours(start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """The whole hours between the two; empty, at `end`, where there are none."""
    first = _hour_of(start)
    whole_start = first if first == start else first + HOUR
    whole_end = _hour_of(end)
    return (whole_start, whole_end) if whole_start < whole_end else (end, end)


def _hour_of(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0)
