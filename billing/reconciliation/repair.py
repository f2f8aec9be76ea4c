"""Making event store and rollups what the ledger says.

Aggregators are held off for one organization and hour at a time (the lock that they share),
so none of their batches changes what is being summed. Repairing again changes nothing.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from billing.aggregator.ingest import COLUMNS, EXCLUSIVE_LOCK
from billing.reconciliation.compare import SUMMED, HourComparison

HOUR = timedelta(hours=1)

_LEDGER_COLUMNS = COLUMNS.replace("event_id", "generation_id")
_VALUES = [name for name in COLUMNS.split(", ") if name != "event_id"]
_SPAN = "organization_id = %(organization)s AND occurred_at >= %(start)s AND occurred_at < %(end)s"

# An event that the ledger does not know was not written by us: it never happened.
_DELETE_STRANGERS = f"""
DELETE FROM billing_usageevent AS event WHERE {_SPAN} AND NOT EXISTS (
    SELECT 1 FROM billing_usagerecord AS record WHERE record.generation_id = event.event_id
)
"""  # noqa: S608 -- constants of this module
# Missing events are added, and whatever an event says otherwise than its record is set right,
# the organization and the hour included.
_COPY_LEDGER = f"""
INSERT INTO billing_usageevent AS event ({COLUMNS})
SELECT {_LEDGER_COLUMNS} FROM billing_usagerecord WHERE {_SPAN}
ON CONFLICT (event_id) DO UPDATE SET
    ({", ".join(_VALUES)}) = ROW({", ".join(f"excluded.{name}" for name in _VALUES)})
WHERE ({", ".join(f"event.{name}" for name in _VALUES)})
    IS DISTINCT FROM ({", ".join(f"excluded.{name}" for name in _VALUES)})
"""  # noqa: S608 -- constants of this module
_DELETE_ROLLUPS = """
DELETE FROM billing_usagerollup
WHERE organization_id = %(organization)s AND hour >= %(start)s AND hour < %(end)s
"""
_SUM_LEDGER = f"""
INSERT INTO billing_usagerollup (
    hour, organization_id, project_id, user_id, key_id, model, requests, {", ".join(SUMMED)}
)
SELECT date_trunc('hour', occurred_at, 'UTC'), organization_id, project_id, user_id, key_id, model,
    count(*), {", ".join(f"sum({column})" for column in SUMMED)}
FROM billing_usagerecord WHERE {_SPAN}
GROUP BY 1, 2, 3, 4, 5, 6
"""  # noqa: S608 -- constants of this module


def repair_hour(difference: HourComparison) -> None:
    """Mend one organization hour, events and rollups."""
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
    parameters: dict[str, UUID | datetime] = {
        "organization": organization_id,
        "start": start,
        "end": end,
    }
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(EXCLUSIVE_LOCK)
        for statement in (_DELETE_STRANGERS, _COPY_LEDGER, _DELETE_ROLLUPS, _SUM_LEDGER):
            cursor.execute(statement, parameters)


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
