"""Chooses the hours that a run of reconciliation compares.

To compare all of `RECONCILED` at every run costs what was used in two days, each five minutes. So
a run takes the hours in which something is likely to be missing, and a share of the others: each
hour of the window is compared at least once in `ROTATION` runs.
"""

from datetime import UTC, datetime, timedelta

from django.db import connection

from billing.models import ReconciliationRun
from billing.periods import RECONCILED

ROTATION = 12
"""Runs in which each hour of the window is compared once: an hour, at five minutes a run."""
_FRESH = timedelta(hours=2)
_LISTED = 1000
_RUN_S = 300
_HOUR = timedelta(hours=1)

# The list is short but after an outage: its first ids, which begin with their time, say enough.
_LISTED_HOURS = """
SELECT DISTINCT date_trunc('hour', record.occurred_at, 'UTC')
FROM (
    SELECT generation_id FROM billing_unaggregatedusage ORDER BY generation_id LIMIT %(most)s
) AS listed
JOIN billing_usagerecord AS record USING (generation_id)
WHERE record.recorded_at < %(settled_before)s AND record.occurred_at >= %(start)s
"""


def hours_due(
    *, now: datetime, settled_before: datetime, previous: ReconciliationRun | None
) -> list[datetime]:
    """Return the starts of the hours to compare now, in order.

    They are the last two hours and the one that begins next, those that differed in the previous
    run, those of records whose events are due (made before `settled_before`) and have not arrived,
    and a part of the window by turns.
    """
    start = window_start(now)
    window = [start + number * _HOUR for number in range((now + _HOUR - start) // _HOUR + 1)]
    turn = int(now.timestamp()) // _RUN_S % ROTATION
    due = {hour for hour in window if hour > now - _FRESH - _HOUR or _number(hour) == turn}
    if previous is not None:
        due.update(datetime.fromisoformat(str(each["hour"])) for each in previous.details)
    with connection.cursor() as cursor:
        cursor.execute(
            _LISTED_HOURS, {"most": _LISTED, "settled_before": settled_before, "start": start}
        )
        due.update(hour for (hour,) in cursor.fetchall())
    return sorted(due)


def window_start(now: datetime) -> datetime:
    return (now - RECONCILED).astimezone(UTC).replace(minute=0, second=0, microsecond=0)


def _number(hour: datetime) -> int:
    return int(hour.timestamp()) // 3600 % ROTATION
