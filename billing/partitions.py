"""The tables of billing that are partitioned by month (decisions 0302, 0334): event store, ledger.

A new installation's are from the beginning; an older one's when its operator says so
(`manage.py partition_usage_events`, `manage.py partition_ledger`), while everything runs.
"""

from datetime import UTC, datetime
from uuid import UUID

from backend.platform.ids import time_of_id
from backend.platform.partitions import Monthly

EVENTS = Monthly(table="billing_usageevent", column="occurred_at", key="event_id")
LEDGER = Monthly(table="billing_usagerecord", column="id_month", key="generation_id")
TABLES = (EVENTS, LEDGER)

NO_MONTH = datetime(1970, 1, 1, tzinfo=UTC)
"""Of ids that say no time: those of before, all in the first partition."""


def month_of_id(generation_id: UUID) -> datetime:
    """The partition of a generation's record; `billing_month_of_id` is the same in the database,
    where a constraint holds each record to it."""
    moment = time_of_id(generation_id)
    if moment is None:
        return NO_MONTH
    return moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
