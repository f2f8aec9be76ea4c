"""The event store is partitioned by month (decision 0302): the one table of billing that is.

A new installation's is from the beginning; an older one's when its operator says so
(`manage.py partition_usage_events`), while everything runs.
"""

from backend.platform.partitions import Monthly

EVENTS = Monthly(table="billing_usageevent", column="occurred_at", key="event_id")
