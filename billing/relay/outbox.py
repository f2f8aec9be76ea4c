"""Claiming outbox rows so that several relays work at once and order holds by key.

Rows are spread over partitions by key. A relay takes some partitions with advisory locks that end
with its transaction, so a killed relay frees them, and reads their rows in order. Two relays never
hold one partition, hence rows of one key leave in the order in which they were written.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

from billing.models.outbox import PARTITIONS

# Locks of one transaction; partition numbers are their second half. Any constant will do, as long
# as nothing else in the database uses the same.
_LOCK_CLASS = 0x0B177

PARTITIONS_AT_ONCE = 16
"""Of 64: leaves partitions to other relays even when everything is waiting."""

# One probe of the index `outbox_waiting` for each partition, however many rows wait. The subquery
# ends before the locks are tried, so that only as many partitions are locked as are taken; LIMIT
# stops at the first PARTITIONS_AT_ONCE that were free. The column keeps its first name, `lane`: to
# rename it would need a stop of every relay.
_OLDEST = """
SELECT every.lane, oldest.id, oldest.created_at FROM generate_series(0, %(last)s) AS every(lane)
CROSS JOIN LATERAL (
    SELECT id, created_at FROM billing_outboxevent AS event
    WHERE published_at IS NULL AND event.lane = every.lane
    ORDER BY event.lane, id LIMIT 1
) AS oldest
"""
CLAIM_PARTITIONS = f"""
WITH waiting AS MATERIALIZED ({_OLDEST} ORDER BY oldest.id)
SELECT lane FROM waiting WHERE pg_try_advisory_xact_lock(%(class)s, lane) LIMIT %(count)s
"""  # noqa: S608 -- a constant of this module
# A statement of its own: its snapshot is taken after the locks, so it sees what their previous
# holder marked as published. Each partition gives its oldest rows, an equal share of the batch.
CLAIM_ROWS = """
SELECT oldest.id, oldest.lane, oldest.topic, oldest.key, oldest.payload
FROM unnest(%(lanes)s::smallint[]) AS claimed(lane)
CROSS JOIN LATERAL (
    SELECT id, event.lane, topic, key, payload::text FROM billing_outboxevent AS event
    WHERE published_at IS NULL AND event.lane = claimed.lane
    ORDER BY event.lane, id LIMIT %(share)s FOR UPDATE SKIP LOCKED
) AS oldest
ORDER BY oldest.id
"""
_MARK = "UPDATE billing_outboxevent SET published_at = clock_timestamp() WHERE id = ANY(%s)"
_WAITING = f"""
SELECT
    (SELECT count(*) FROM (
        SELECT 1 FROM billing_outboxevent WHERE published_at IS NULL LIMIT %(most)s
    ) AS counted),
    (SELECT COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - min(created_at)), 0)
     FROM ({_OLDEST}) AS each)
"""  # noqa: S608 -- a constant of this module
MAX_COUNTED = 100_000
"""`waiting` counts no further, so that its cost has a bound."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    id: int
    partition: int
    topic: str
    key: bytes
    value: bytes


def claim(*, limit: int) -> list[OutboxRow]:
    """Return some `limit` waiting rows, held until the surrounding transaction ends.

    At most `PARTITIONS_AT_ONCE - 1` more than `limit`, since each partition gives as many. The cost
    follows what is taken, not what waits.
    """
    with connection.cursor() as cursor:
        cursor.execute(CLAIM_PARTITIONS, claim_parameters())
        partitions = [partition for (partition,) in cursor.fetchall()]
        if not partitions:
            return []
        share = -(-limit // len(partitions))
        cursor.execute(CLAIM_ROWS, {"lanes": partitions, "share": share})
        return [
            OutboxRow(id, partition, topic, key.encode(), payload.encode())
            for id, partition, topic, key, payload in cursor.fetchall()
        ]


def claim_parameters() -> dict[str, int]:
    return {"last": PARTITIONS - 1, "class": _LOCK_CLASS, "count": PARTITIONS_AT_ONCE}


def mark_published(ids: Iterable[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MARK, [list(ids)])


def waiting() -> tuple[int, float]:
    """Return how many rows wait, at most `MAX_COUNTED`, and for how many seconds the oldest has."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING, {"last": PARTITIONS - 1, "most": MAX_COUNTED})
        count, age = cursor.fetchone()
    return count, float(age)
