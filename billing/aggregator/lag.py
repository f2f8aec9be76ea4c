"""How far behind the rollups are, read from PostgreSQL alone.

The log cannot tell: what it lost has no offset. So lag is the age of the oldest ledger record
that is listed as not aggregated (`UnaggregatedUsage`) and that the event store lacks.
"""

from django.db import connection

MAX_LISTED = 1000
"""The first of the list that are looked at: ids begin with their time."""
_LAG = """
SELECT COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - min(record.recorded_at)), 0)
FROM (
    SELECT generation_id FROM billing_unaggregatedusage ORDER BY generation_id LIMIT %s
) AS listed
JOIN billing_usagerecord AS record USING (generation_id)
WHERE NOT EXISTS (
    SELECT 1 FROM billing_usageevent AS event
    WHERE event.event_id = record.generation_id AND event.occurred_at = record.occurred_at
)
"""


def aggregation_lag_s() -> float:
    """Return the age in seconds of the oldest record that is not aggregated; 0 without any."""
    with connection.cursor() as cursor:
        cursor.execute(_LAG, [MAX_LISTED])
        (age,) = cursor.fetchone()
    return max(0.0, float(age))
