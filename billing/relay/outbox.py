"""Claiming outbox rows so that several relays work at once and order holds by key.

Rows are spread over partitions by key. A relay takes some partitions with advisory locks that end
with its transaction, so a killed relay frees them, and reads their rows in order. Two relays never
hold one partition, hence rows of one key leave in the order in which they were written.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection

# Locks of one transaction; partition numbers are their second half. Any constant will do, as long
# as nothing else in the database uses the same.
_LOCK_CLASS = 0x0B177

PARTITIONS_AT_ONCE = 16
"""Of 64: leaves partitions to other relays even when everything is waiting."""

# The subquery ends before the locks are tried, so that only as many partitions are locked
# as are taken; LIMIT stops at the first PARTITIONS_AT_ONCE that were free. The column keeps its
# first name, `lane`: to rename it would need a stop of every relay.
_CLAIM_PARTITIONS = """
WITH waiting AS MATERIALIZED (
    SELECT lane FROM billing_outboxevent WHERE published_at IS NULL
    GROUP BY lane ORDER BY min(id)
)
SELECT lane FROM waiting WHERE pg_try_advisory_xact_lock(%s, lane) LIMIT %s
"""
# A statement of its own: its snapshot is taken after the locks, so it sees what their previous
# holder marked as published.
_CLAIM_ROWS = """
SELECT id, lane, topic, key, payload::text FROM billing_outboxevent
WHERE published_at IS NULL AND lane = ANY(%s)
ORDER BY id LIMIT %s FOR UPDATE SKIP LOCKED
"""
_MARK = "UPDATE billing_outboxevent SET published_at = clock_timestamp() WHERE id = ANY(%s)"
_WAITING = """
SELECT count(*), COALESCE(EXTRACT(EPOCH FROM clock_timestamp() - min(created_at)), 0)
FROM billing_outboxevent WHERE published_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    id: int
    partition: int
    topic: str
    key: bytes
    value: bytes


def claim(*, limit: int) -> list[OutboxRow]:
    """Up to `limit` waiting rows, held until the surrounding transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM_PARTITIONS, [_LOCK_CLASS, PARTITIONS_AT_ONCE])
        partitions = [partition for (partition,) in cursor.fetchall()]
        if not partitions:
            return []
        cursor.execute(_CLAIM_ROWS, [partitions, limit])
        return [
            OutboxRow(id, partition, topic, key.encode(), payload.encode())
            for id, partition, topic, key, payload in cursor.fetchall()
        ]


def mark_published(ids: Iterable[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MARK, [list(ids)])


def waiting() -> tuple[int, float]:
    """How many rows wait, and for how many seconds the oldest has."""
    with connection.cursor() as cursor:
        cursor.execute(_WAITING)
        count, age = cursor.fetchone()
    return count, float(age)
