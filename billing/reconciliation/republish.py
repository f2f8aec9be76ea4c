"""Events that never arrived go into the outbox again.

Through the log rather than straight into the rollups, so that every other consumer of the
topic gets them too.
"""

from datetime import datetime

from django.db import connection, transaction

from billing.aggregator.unaggregated import list_records
from billing.events import TOPIC_RECORDED, encode
from billing.models import OutboxEvent, UsageRecord
from billing.models.outbox import partition_of

BATCH = 1000

_MISSING = """
SELECT record.generation_id FROM billing_usagerecord AS record
WHERE record.occurred_at >= %(start)s AND record.occurred_at < %(end)s
  AND record.recorded_at < %(recorded_before)s
  AND NOT EXISTS (SELECT 1 FROM billing_usageevent AS event
                  WHERE event.event_id = record.generation_id
                    AND event.occurred_at = record.occurred_at)
  AND NOT EXISTS (SELECT 1 FROM billing_outboxevent AS waiting
                  WHERE waiting.topic = %(topic)s AND waiting.event_id = record.generation_id
                  AND (waiting.published_at IS NULL OR waiting.published_at > %(published_since)s))
ORDER BY record.id
LIMIT %(limit)s
"""


def republish_missing(*, start: datetime, end: datetime, settled_before: datetime) -> int:
    """Queue every event of the span that ought to have arrived and has not.

    Args:
        settled_before: what was recorded, or last published, after this may still be on its
            way and is left alone.
    Returns:
        How many were queued.
    """
    total = 0
    while (queued := _queue_batch(start, end, settled_before)) == BATCH:
        total += queued
    return total + queued


@transaction.atomic
def _queue_batch(start: datetime, end: datetime, settled_before: datetime) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            _MISSING,
            {
                "start": start,
                "end": end,
                "recorded_before": settled_before,
                "published_since": settled_before,
                "topic": TOPIC_RECORDED,
                "limit": BATCH,
            },
        )
        missing = [row[0] for row in cursor.fetchall()]
    list_records(missing)
    rows = []
    for record in UsageRecord.objects.filter(generation_id__in=missing).order_by("id"):
        key = str(record.organization_id)
        rows.append(
            OutboxEvent(
                topic=TOPIC_RECORDED,
                key=key,
                partition=partition_of(key),
                event_id=record.generation_id,
                payload=encode(record),
            )
        )
    OutboxEvent.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["topic", "event_id"],
        update_fields=["payload", "published_at"],
    )
    return len(rows)
