"""Making event store and rollups what the ledger says.

Aggregators are held off for one organization and hour at a time (the lock that they share), so
the event store stands still meanwhile. The ledger does not: records are committed between the
statements of a repair. So each rollup is summed from the events that the repair has stored and
never from the ledger: what is not among them is counted when its event comes, once.
Repairing again changes nothing.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from billing.aggregator.ingest import COLUMNS, EXCLUSIVE_LOCK
from billing.aggregator.unaggregated import list_records, take_off_stored
from billing.quantities import TOKEN_COLUMNS
from billing.reconciliation.compare import HourComparison

HOUR = timedelta(hours=1)

Parameters = dict[str, UUID | datetime]

_LEDGER_COLUMNS = COLUMNS.replace("event_id", "generation_id")
_VALUES = [name for name in COLUMNS.split(", ") if name != "event_id"]


def _span(table: str) -> str:
    return (
        f"{table}.organization_id = %(organization)s"
        f" AND {table}.occurred_at >= %(start)s AND {table}.occurred_at < %(end)s"
    )


def _values(table: str) -> str:
    return f"({', '.join(f'{table}.{name}' for name in _VALUES)})"


# An event that the ledger does not know never happened; one that says something else than its
# record goes too, and comes back right. It may lie in another hour than its record, or belong to
# another organization: the answer names every hour whose rollup counted it.
_DELETE_WRONG_EVENTS = f"""
DELETE FROM billing_usageevent WHERE (event_id, occurred_at) IN (
    SELECT event.event_id, event.occurred_at FROM billing_usageevent AS event
    LEFT JOIN billing_usagerecord AS record ON record.generation_id = event.event_id
        AND record.id_month = billing_month_of_id(event.event_id)
    WHERE {_span("event")}
      AND (record.id IS NULL OR {_values("event")} IS DISTINCT FROM {_values("record")})
    UNION
    SELECT event.event_id, event.occurred_at FROM billing_usageevent AS event
    JOIN billing_usagerecord AS record ON record.generation_id = event.event_id
        AND record.id_month = billing_month_of_id(event.event_id)
    WHERE {_span("record")} AND {_values("event")} IS DISTINCT FROM {_values("record")}
)
RETURNING event_id, organization_id, date_trunc('hour', occurred_at, 'UTC')
"""  # noqa: S608 -- constants of this module
_COPY_LEDGER = f"""
INSERT INTO billing_usageevent ({COLUMNS})
SELECT {_LEDGER_COLUMNS} FROM billing_usagerecord AS record WHERE {_span("record")}
ON CONFLICT DO NOTHING
"""  # noqa: S608 -- constants of this module
_DELETE_ROLLUPS = """
DELETE FROM billing_usagerollup
WHERE organization_id = %(organization)s AND hour >= %(start)s AND hour < %(end)s
"""
_SUM_EVENTS = f"""
INSERT INTO billing_usagerollup (
    hour, organization_id, project_id, user_id, key_id, model, requests, {", ".join(TOKEN_COLUMNS)}
)
SELECT date_trunc('hour', occurred_at, 'UTC'), organization_id, project_id, user_id, key_id, model,
    count(*), {", ".join(f"sum({column})" for column in TOKEN_COLUMNS)}
FROM billing_usageevent AS event WHERE {_span("event")}
GROUP BY 1, 2, 3, 4, 5, 6
"""  # noqa: S608 -- constants of this module


def repair_hour(difference: HourComparison) -> None:
    """Repair one organization hour, events and rollups."""
    _mend(difference.organization_id, difference.hour, difference.hour + HOUR)


def rebuild_rollups(*, start: datetime, end: datetime) -> int:
    """Recompute every rollup of a span of whole hours from the ledger, and the events with them.

    Event store and rollups go together: a rollup rebuilt alone would count an event again
    that arrives later.

    Returns:
        How many organization days were recomputed.
    """
    spans = 0
    day = start
    while day < end:
        until = min(day + timedelta(days=1), end)
        for organization_id in _organizations(day, until):
            _mend(organization_id, day, until)
            spans += 1
        day = until
    return spans


def _mend(organization_id: UUID, start: datetime, end: datetime) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(EXCLUSIVE_LOCK)
        span: Parameters = {"organization": organization_id, "start": start, "end": end}
        cursor.execute(_DELETE_WRONG_EVENTS, span)
        deleted = cursor.fetchall()
        list_records([event_id for event_id, _, _ in deleted])
        cursor.execute(_COPY_LEDGER, span)
        take_off_stored(organization_id=organization_id)
        _sum_rollups(organization_id, start, end)
        for other, hour in {(other, hour) for _, other, hour in deleted}:
            if other != organization_id or not start <= hour < end:
                _sum_rollups(other, hour, hour + HOUR)


def _sum_rollups(organization_id: UUID, start: datetime, end: datetime) -> None:
    """Make rollups the sums of their events, which the caller's lock keeps as they are."""
    span: Parameters = {"organization": organization_id, "start": start, "end": end}
    with connection.cursor() as cursor:
        cursor.execute(_DELETE_ROLLUPS, span)
        cursor.execute(_SUM_EVENTS, span)


def _organizations(start: datetime, end: datetime) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT organization_id FROM billing_usagerecord
            WHERE occurred_at >= %(start)s AND occurred_at < %(end)s
            UNION SELECT organization_id FROM billing_usageevent
            WHERE occurred_at >= %(start)s AND occurred_at < %(end)s
            UNION SELECT organization_id FROM billing_usagerollup
            WHERE hour >= %(start)s AND hour < %(end)s
            """,
            {"start": start, "end": end},
        )
        return [row[0] for row in cursor.fetchall()]
