"""The comparison: three sums for every organization and hour, in one statement."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from billing.quantities import TOKEN_COLUMNS, TokenCounts


@dataclass(frozen=True, slots=True)
class Sums:
    """Requests and tokens of one organization in one hour, as one of the three has them."""

    requests: int
    tokens: TokenCounts


@dataclass(frozen=True, slots=True)
class HourComparison:
    """`ledger` is the truth; the other two ought to be equal to it."""

    organization_id: UUID
    hour: datetime
    ledger: Sums
    events: Sums
    rollups: Sums

    @property
    def differs(self) -> bool:
        return not self.ledger == self.events == self.rollups


def _sums_of(table: str, hour: str, time_column: str, count: str, also: str = "") -> str:
    sums = ", ".join(f"sum({column})" for column in TOKEN_COLUMNS)
    return f"""
    SELECT organization_id, {hour} AS hour, {count}, {sums}
    FROM {table} WHERE {time_column} >= %(start)s AND {time_column} < %(end)s
      AND (%(organization)s::uuid IS NULL OR organization_id = %(organization)s)
      {also}
    GROUP BY 1, 2
    """  # noqa: S608 -- constants of this module


# A record that is younger than the grace counts once its event has arrived, and is else taken
# for being on its way.
_ARRIVED_OR_DUE = """
    AND (%(grace_from)s::timestamptz IS NULL OR recorded_at < %(grace_from)s OR EXISTS (
        SELECT 1 FROM billing_usageevent AS event WHERE event.event_id = generation_id
          AND event.occurred_at = billing_usagerecord.occurred_at
    ))
"""
_HOUR = "date_trunc('hour', occurred_at, 'UTC')"
_COLUMNS = ", ".join(
    f"COALESCE({part}.{column}, 0)"
    for part in ("ledger", "events", "rollups")
    for column in ("requests", *TOKEN_COLUMNS)
)
_NAMES = f"(organization_id, hour, requests, {', '.join(TOKEN_COLUMNS)})"
# One statement is one snapshot: a record, its event and its rollup are seen together or not.
_COMPARE = f"""
WITH ledger {_NAMES} AS (
    {_sums_of("billing_usagerecord", _HOUR, "occurred_at", "count(*)", _ARRIVED_OR_DUE)}
),
events {_NAMES} AS ({_sums_of("billing_usageevent", _HOUR, "occurred_at", "count(*)")}),
rollups {_NAMES} AS ({_sums_of("billing_usagerollup", "hour", "hour", "sum(requests)")})
SELECT organization_id, hour, {_COLUMNS}
FROM ledger FULL JOIN events USING (organization_id, hour)
FULL JOIN rollups USING (organization_id, hour)
ORDER BY hour, organization_id
"""  # noqa: S608 -- constants of this module


def compare(
    *,
    start: datetime,
    end: datetime,
    organization_id: UUID | None = None,
    grace_from: datetime | None = None,
) -> Iterator[HourComparison]:
    """Every organization hour of a span of whole hours that any of the three knows of.

    Args:
        grace_from: records made after this may be on their way: they count only if they have
            arrived. None: everything ought to have arrived.
    """
    width = 1 + len(TOKEN_COLUMNS)
    parameters = {
        "start": start,
        "end": end,
        "organization": organization_id,
        "grace_from": grace_from,
    }
    with connection.cursor() as cursor:
        cursor.execute(_COMPARE, parameters)
        for organization, hour, *numbers in cursor.fetchall():
            ledger, events, rollups = (
                Sums(int(numbers[i]), TokenCounts(*map(int, numbers[i + 1 : i + width])))
                for i in range(0, 3 * width, width)
            )
            yield HourComparison(organization, hour, ledger, events, rollups)


def differences(
    *,
    start: datetime,
    end: datetime,
    organization_id: UUID | None = None,
    grace_from: datetime | None = None,
) -> list[HourComparison]:
    """The hours that differ; arguments as for `compare`."""
    hours = compare(start=start, end=end, organization_id=organization_id, grace_from=grace_from)
    return [hour for hour in hours if hour.differs]
