"""How far behind the rollups are, read from PostgreSQL alone.

The log cannot tell: what it lost has no offset. So lag is the age of the oldest ledger record
that the event store lacks, within the window that reconciliation watches.
"""

from django.db import connection

_LAG = """
SELECT COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - min(record.recorded_at)), 0)
FROM billing_usagerecord AS record
WHERE record.occurred_at > clock_timestamp() - interval '24 hours'
  AND NOT EXISTS (
    SELECT 1 FROM billing_usageevent AS event
    WHERE event.event_id = record.generation_id AND event.occurred_at = record.occurred_at
  )
"""


def aggregation_lag_s() -> float:
    """Seconds since the oldest record of the last 24 hours that is not aggregated; 0: none."""
    with connection.cursor() as cursor:
        cursor.execute(_LAG)
        (age,) = cursor.fetchone()
    return max(0.0, float(age))
