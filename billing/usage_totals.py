"""An organization's usage in sums, as the ledger has it at this moment, without reading all of it.

Whole hours come from the rollups, whole days and calendar months from their sums, and where no
dimension is asked for that a coarser sum lacks, from that. What these lack is added
from the ledger: the records whose event is not in the event store, which `UnaggregatedUsage`
lists. Parts of an hour come from the ledger alone.

A rollup is the sum of the stored events at every commit, a coarser sum that of its rollups, and
one statement is one snapshot. So until the transaction that stores an event commits, its record is
added and its rollup does not count it, and from then on the other way round: never both, never
neither, whatever aggregators and repairs do meanwhile. For figures that people look at and for what
is enforced (budgets' counters, credit, volume tiers); invoices are summed from the ledger.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from backend.platform.replica import read_connection
from billing.prices.usage import DIMENSIONS, Dimension, UsageBucket
from billing.quantities import TOKEN_COLUMNS, TokenCounts

Column = Literal[Dimension, "model"]

Span = tuple[datetime, datetime]
"""From the first up to, and without, the second."""

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

_GROUPS = ", ".join((*DIMENSIONS, "model"))
_TOKENS = ", ".join(TOKEN_COLUMNS)
# The spans that each source is read for, as parallel arrays: an index scan each.
_OF_SPANS = "unnest(%({0}_from)s::timestamptz[], %({0}_to)s::timestamptz[]) AS span(first, after)"
_FROM_SUMS = f"""
SELECT start, {_GROUPS}, requests, {_TOKENS}
FROM {_OF_SPANS} JOIN billing_usagesum
    ON organization_id = %(organization)s AND unit = '{{1}}' AND detail = '{{2}}'
    AND start >= span.first AND start < span.after
"""  # noqa: S608 -- constants of this module
_FROM_DAYS = f"""
SELECT day, {_GROUPS}, requests, {_TOKENS}
FROM {_OF_SPANS.format("days")} JOIN billing_usageday
    ON organization_id = %(organization)s AND day >= span.first AND day < span.after
"""  # noqa: S608 -- constants of this module
_FROM_ROLLUPS = f"""
SELECT hour, {_GROUPS}, requests, {_TOKENS}
FROM {_OF_SPANS.format("hours")} JOIN billing_usagerollup
    ON organization_id = %(organization)s AND hour >= span.first AND hour < span.after
"""  # noqa: S608 -- constants of this module
# The dimensions beside the model that a sum by day has, and what it is called.
_DETAILS: dict[frozenset[Column], str] = {
    frozenset(): "model",
    frozenset({"project_id"}): "project",
    frozenset({"key_id"}): "key",
}
_NOT_IN_ROLLUPS = f"""
SELECT occurred_at AS moment, {_GROUPS}, 1 AS requests, {_TOKENS}
FROM billing_unaggregatedusage AS listed JOIN billing_usagerecord AS record
    ON record.generation_id = listed.generation_id
    AND record.id_month = billing_month_of_id(listed.generation_id)
WHERE listed.organization_id = %(organization)s
  AND occurred_at >= %(whole_start)s AND occurred_at < %(whole_end)s
  AND NOT EXISTS (
    SELECT 1 FROM billing_usageevent AS event
    WHERE event.event_id = listed.generation_id AND event.occurred_at = record.occurred_at
  )
"""  # noqa: S608 -- constants of this module
_PARTS_OF_HOURS = f"""
SELECT occurred_at, {_GROUPS}, 1, {_TOKENS}
FROM {_OF_SPANS.format("parts")} JOIN billing_usagerecord
    ON organization_id = %(organization)s
    AND occurred_at >= span.first AND occurred_at < span.after
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
    dimensions_read: set[Column] = {*dimensions, *only} - {"model"}
    uses_months = frozenset(dimensions_read) not in _DETAILS
    months, days, hours = _by_unit(starts, whole_start, whole_end, uses_months=uses_months)
    parts = [(start, whole_start), (whole_end, end)]
    spans = {
        "months": months,
        "days": days,
        "hours": hours,
        "parts": [(first, after) for first, after in parts if first < after],
    }
    by = ", ".join((*dimensions, "model"))
    sums = ", ".join(f"sum({column})::bigint" for column in ("requests", *TOKEN_COLUMNS))
    restricted = " AND ".join(f"{name} = ANY(%(only_{name})s)" for name in only) or "true"
    statement = f"""
        SELECT width_bucket(moment, %(starts)s::timestamptz[]), {by}, {sums}
        FROM (
            {" UNION ALL ".join(_sources(dimensions_read, spans))}
        ) AS usage
        WHERE {restricted} GROUP BY 1, {by} ORDER BY 1, {by}
    """  # noqa: S608 -- names are of the types above
    parameters: dict[str, Any] = {
        "organization": organization_id,
        "starts": list(starts),
        "whole_start": whole_start,
        "whole_end": whole_end,
        **{name: value for one in spans for name, value in _arrays(one, spans[one]).items()},
        **{f"only_{name}": list(values) for name, values in only.items()},
    }
    with read_connection().cursor() as cursor:
        cursor.execute(statement, parameters)
        for number, *values in cursor:
            groups, numbers = values[: len(dimensions) + 1], values[len(dimensions) + 1 :]
            yield UsageBucket(
                start=starts[number - 1],
                model=groups[-1],
                requests=numbers[0],
                counts=TokenCounts(*numbers[1:]),
                **dict(zip(dimensions, groups, strict=False)),
            )


def _sources(dimensions: Set[Column], spans: Mapping[str, Sequence[Span]]) -> list[str]:
    """What is read, each from the sums with the fewest rows that have these dimensions. A table for
    which there are no spans is left out: the planner might scan it to find that."""
    detail = _DETAILS.get(frozenset(dimensions))
    sources = {
        "parts": _PARTS_OF_HOURS,
        "months": _FROM_SUMS.format("months", "month", "all"),
        "days": _FROM_DAYS if detail is None else _FROM_SUMS.format("days", "day", detail),
        "hours": _FROM_ROLLUPS if dimensions else _FROM_SUMS.format("hours", "hour", "model"),
    }
    return [_NOT_IN_ROLLUPS, *(source for name, source in sources.items() if spans[name])]


def _by_unit(
    starts: Sequence[datetime], start: datetime, end: datetime, *, uses_months: bool
) -> tuple[list[Span], list[Span], list[Span]]:
    """The whole hours from `start` to `end`, shared out to months, days and hours: each is read by
    the longest of them that lies in it whole and has none of `starts` but at its beginning.

    Args:
        uses_months: False where a sum by day has fewer dimensions than one by month, which has a
            row for each member and key: a large customer's month has fewer rows by day.
    """
    months: list[Span] = []
    days: list[Span] = []
    hours: list[Span] = []
    split_days = {_day(moment) for moment in starts if moment != _day(moment)}
    split_months = {_month(moment) for moment in starts if moment != _month(moment)}
    while start < end:
        is_month = start == _month(start) and _next_month(start) <= end
        if uses_months and is_month and start not in split_months:
            after, spans = _next_month(start), months
        elif start == _day(start) and start + DAY <= end and start not in split_days:
            after, spans = start + DAY, days
        else:
            after, spans = min(_day(start) + DAY, end), hours
        _extend(spans, start, after)
        start = after
    return months, days, hours


def _extend(spans: list[Span], start: datetime, end: datetime) -> None:
    """Add a span, to the last one where they touch."""
    if start >= end:
        return
    if spans and spans[-1][1] == start:
        spans[-1] = (spans[-1][0], end)
    else:
        spans.append((start, end))


def _arrays(name: str, spans: Sequence[Span]) -> dict[str, list[datetime]]:
    return {f"{name}_from": [s for s, _ in spans], f"{name}_to": [e for _, e in spans]}


def _whole_hours(start: datetime, end: datetime) -> Span:
    """The whole hours between the two; empty, at `end`, where there are none."""
    first = start.replace(minute=0, second=0, microsecond=0)
    whole_start = first if first == start else first + HOUR
    whole_end = end.replace(minute=0, second=0, microsecond=0)
    return (whole_start, whole_end) if whole_start < whole_end else (end, end)


def _day(moment: datetime) -> datetime:
    """The beginning of the day (UTC) that `moment` lies in."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _month(moment: datetime) -> datetime:
    return _day(moment).replace(day=1)


def _next_month(moment: datetime) -> datetime:
    return _month(_month(moment) + 31 * DAY)
