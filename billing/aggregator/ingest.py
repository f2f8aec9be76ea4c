"""One batch of records into PostgreSQL: events once, rollups by the new ones, in one transaction.

Whatever Kafka delivers, repeated or reordered, the event store ends with each event once and a
rollup with the sum of its events, because both change together and only for events that the
store did not have. In the same transaction their records leave the list of those without an
event. A record that is no event goes to the outbox, addressed to `usage.rejected`, in the same
transaction; it never stops its partition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from uuid import NAMESPACE_URL, UUID, uuid5
from zlib import crc32

import orjson
from django.db import DataError, IntegrityError, connection, transaction

from billing.events import (
    TOPIC_REJECTED,
    EventRejected,
    UsageRecorded,
    decode,
)
from billing.models.outbox import OutboxEvent, partition_of
from billing.quantities import TOKEN_COLUMNS

MAX_REJECTED_BYTES = 16 * 1024
"""How much of a rejected record is kept for people to look at."""

SHARED_LOCK = "SELECT pg_advisory_xact_lock_shared(hashtext('billing.rollups'))"
EXCLUSIVE_LOCK = "SELECT pg_advisory_xact_lock(hashtext('billing.rollups'))"
"""Aggregators share this lock; what recomputes rollups takes it alone, so that no batch
changes what is being summed."""

_TOKENS = ", ".join(TOKEN_COLUMNS)
COLUMNS = (
    "event_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool,"
    f" {_TOKENS}, state, ttft_ms, duration_ms"
)
_SUMS = ("requests", *TOKEN_COLUMNS)
# It stays with the server's connection, and behind a pooler that one outlives a release: so the
# table of these columns has a name of its own.
_TABLE = f"billing_staging_{crc32(COLUMNS.encode()):08x}"
_STAGING = f"""
CREATE TEMPORARY TABLE IF NOT EXISTS {_TABLE}
AS SELECT {COLUMNS} FROM billing_usageevent WITH NO DATA;
TRUNCATE {_TABLE}
"""  # noqa: S608 -- constants of this module
_COPY = f"COPY {_TABLE} ({COLUMNS}) FROM STDIN"

# ORDER BY makes concurrent aggregators take row locks in one order: no deadlocks.
_STORE = f"""
WITH fresh AS (
    INSERT INTO billing_usageevent ({COLUMNS})
    SELECT {COLUMNS} FROM {_TABLE} ORDER BY event_id
    ON CONFLICT DO NOTHING  -- right also while the table is not partitioned yet
    RETURNING *
), summed AS (
    INSERT INTO billing_usagerollup AS rollup (
        hour, organization_id, project_id, user_id, key_id, model, requests, {_TOKENS}
    )
    SELECT date_trunc('hour', occurred_at, 'UTC') AS hour, organization_id, project_id, user_id,
        key_id, model, count(*), {", ".join(f"sum({column})" for column in TOKEN_COLUMNS)}
    FROM fresh
    GROUP BY 1, 2, 3, 4, 5, 6
    ORDER BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (hour, organization_id, project_id, user_id, key_id, model) DO UPDATE SET
        {", ".join(f"{sum_} = rollup.{sum_} + excluded.{sum_}" for sum_ in _SUMS)}
)
SELECT count(*) FROM fresh
"""  # noqa: S608 -- constants of this module
# Repeated events too: another aggregator stored them. Statements of their own take no row
# lock before the events' unique index has put aggregators with the same events in a row.
_TAKE_OFF_LIST = f"""
DELETE FROM billing_unaggregatedusage AS listed USING {_TABLE} AS stored
WHERE listed.generation_id = stored.event_id
"""  # noqa: S608 -- constants of this module


@dataclass(frozen=True, slots=True)
class KafkaRecord:
    """A record as Kafka delivered it."""

    topic: str
    partition: int
    offset: int
    value: bytes


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a batch."""

    new: int = 0
    repeated: int = 0
    rejected: int = 0

    def __add__(self, other: "Ingested") -> "Ingested":
        return Ingested(
            self.new + other.new,
            self.repeated + other.repeated,
            self.rejected + other.rejected,
        )


def ingest(records: Sequence[KafkaRecord]) -> Ingested:
    """Store a batch. When this returns, its offsets may be committed.

    Raises:
        OperationalError: the database is away or a deadlock was broken; nothing was stored,
            the batch can be ingested again.
    """
    events: list[tuple[KafkaRecord, UsageRecorded]] = []
    rejected: list[tuple[KafkaRecord, str]] = []
    for record in records:
        try:
            events.append((record, decode(record.value)))
        except EventRejected as error:
            rejected.append((record, str(error)))
    return _store(events, rejected)


def _store(
    events: Sequence[tuple[KafkaRecord, UsageRecorded]], rejected: Sequence[tuple[KafkaRecord, str]]
) -> Ingested:
    """One transaction; where PostgreSQL refuses a value, halves, down to the one at fault."""
    try:
        with transaction.atomic():
            new = _insert([event for _, event in events]) if events else 0
            _reject(rejected)
    except (DataError, IntegrityError) as error:
        if not events:
            raise
        if len(events) == 1:
            return _store([], [*rejected, (events[0][0], f"refused by the database: {error}")])
        middle = len(events) // 2
        return _store(events[:middle], rejected) + _store(events[middle:], [])
    return Ingested(new, len(events) - new, len(rejected))


def _insert(events: Sequence[UsageRecorded]) -> int:
    """Insert, and add up what is new. Returns how many were new."""
    with connection.cursor() as cursor:
        cursor.execute(SHARED_LOCK)
        cursor.execute(_STAGING)
        with cursor.copy(_COPY) as copy:
            copy.write("".join(map(copy_line, events)))
        cursor.execute(_STORE)
        (new,) = cursor.fetchone()
        cursor.execute(_TAKE_OFF_LIST)
    return int(new)


def copy_line(event: UsageRecorded) -> str:
    """The event as a line of COPY's text format. Strings that a client chose are escaped."""
    tokens = "\t".join(map(str, _tokens_of(event)))
    return (
        f"{event.event_id}\t{event.occurred_at}\t{event.organization_id}\t{event.project_id}\t"
        f"{event.user_id}\t{event.key_id or _NULL}\t{_escaped(event.model)}\t"
        f"{_escaped(event.pool)}\t{tokens}\t{event.state}\t"
        f"{_NULL if event.ttft_ms is None else event.ttft_ms}\t{event.duration_ms}\n"
    )


_NULL = "\\N"
_tokens_of = attrgetter(*TOKEN_COLUMNS)
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def _escaped(text: str) -> str:
    return text if text.isalnum() else text.translate(_ESCAPES)


def _reject(rejected: Sequence[tuple[KafkaRecord, str]]) -> None:
    """Queue rejections for `usage.rejected`; a record delivered again is the same rejection."""
    rows = []
    for record, reason in rejected:
        place = f"{record.topic}/{record.partition}/{record.offset}"
        rows.append(
            OutboxEvent(
                topic=TOPIC_REJECTED,
                key=record.topic,
                partition=partition_of(record.topic),
                event_id=_rejection_id(place, record.value),
                payload={
                    "schema": "usage.rejected.v1",
                    "reason": _storable(reason)[:1000],
                    "topic": record.topic,
                    "partition": record.partition,
                    "offset": record.offset,
                    "size": len(record.value),
                    "message": _storable(
                        record.value[:MAX_REJECTED_BYTES].decode("utf-8", "backslashreplace")
                    ),
                },
            )
        )
    OutboxEvent.objects.bulk_create(rows, ignore_conflicts=True)


def _rejection_id(place: str, value: bytes) -> UUID:
    return uuid5(NAMESPACE_URL, orjson.dumps([place, value.hex()]).decode())


def _storable(text: str) -> str:
    """PostgreSQL's JSON cannot hold U+0000 or lone surrogates."""
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode()
