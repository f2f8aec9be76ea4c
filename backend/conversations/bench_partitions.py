"""`make bench-message-partitions`: would messages by month be read, written and deleted faster?

Two copies of the table of messages, one of them partitioned by the month of `created_at`, hold the
same two years of conversations of twenty messages; every tenth conversation is gone on with for
months. Without foreign keys, which the partitioned one cannot have by a message's id alone, and
without the index of search. Printed for each: a conversation read, messages written, and what an
organization's retention deletes (whole conversations, by their last message).
"""

import random
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from django.db import connection

from backend.platform.bench_database import bench_database

MONTHS = 24
_EACH = 20
_READS = 500
_WRITTEN, _BATCH = 20_000, 100
_FIRST = datetime(2025, 1, 1, tzinfo=UTC)
_FILL = """
INSERT INTO {table} (id, conversation_id, parent_id, role, content, text, status, model,
    finish_reason, input_tokens, output_tokens, created_at)
SELECT md5(n || 'm')::uuid, md5((n / %(each)s) || 'c')::uuid, NULL, 'user',
    jsonb_build_array(jsonb_build_object('type', 'text', 'text', repeat(md5(n::text), 8))),
    repeat(md5(n::text), 8), 'completed', '', '', 0, 0,
    %(first)s::timestamptz + (
        ((n / %(each)s) * 7919 %% 1000) / 1000.0 * %(months)s * 0.7
        + CASE WHEN (n / %(each)s) %% 10 = 0 THEN n %% %(each)s * 0.35 ELSE 0 END
    ) * interval '30 days' + n %% %(each)s * interval '1 minute'
FROM generate_series(%(from)s, %(to)s) AS n
"""
_WRITE = """
INSERT INTO {table} (id, conversation_id, role, content, text, status, model, finish_reason,
    input_tokens, output_tokens, created_at)
SELECT gen_random_uuid(), md5((%s + n) || 'new')::uuid, 'user', '[]', repeat(md5(n::text), 8),
    'completed', '', '', 0, 0, %s FROM generate_series(1, %s) AS n
"""
_READ = "SELECT * FROM {table} WHERE conversation_id = %s ORDER BY created_at"
_DELETE = "DELETE FROM {table} WHERE conversation_id = ANY(%s)"
_EXPIRED = """
SELECT conversation_id FROM {table} GROUP BY 1 HAVING max(created_at) < %s
"""


def measure(rows: int) -> None:
    """Run and print, in a database of its own."""
    with bench_database():
        _run(rows)


def _run(rows: int) -> None:
    _make_tables()
    for table in ("one_table", "by_month"):
        seconds = _seconds(partial(_fill, table, rows))
        print(f"{table}: {rows:,} messages in {seconds:.0f} s, {_size(table):,.0f} MiB")
    for table in ("one_table", "by_month"):
        print(
            f"{table}: a conversation read in {_read_ms(table, rows):.2f} ms (median),"
            f" {_WRITTEN / _seconds(partial(_write, table)):,.0f} written a second,"
            f" {_delete(table)}"
        )
    first_month = _FIRST + timedelta(days=31)
    [(cut,)] = _fetch(
        "SELECT count(*) FROM (SELECT 1 FROM one_table GROUP BY conversation_id"
        " HAVING min(created_at) < %s + interval '90 days'"
        " AND max(created_at) >= %s + interval '90 days') AS both_sides",
        [first_month, first_month],
    )
    print(f"to drop the oldest partitions that are left would cut {cut:,} conversations in two")


def _make_tables() -> None:
    like = "LIKE conversations_message INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE one_table ({like}, PRIMARY KEY (id))")
        cursor.execute(
            f"CREATE TABLE by_month ({like}, PRIMARY KEY (id, created_at))"
            " PARTITION BY RANGE (created_at)"
        )
        for month in range(MONTHS):
            first, after = (
                datetime(_FIRST.year + n // 12, n % 12 + 1, 1, tzinfo=UTC)
                for n in (month, month + 1)
            )
            cursor.execute(
                f"CREATE TABLE by_month_{month} PARTITION OF by_month"
                f" FOR VALUES FROM ('{first.isoformat()}') TO ('{after.isoformat()}')"
            )
        for table in ("one_table", "by_month"):
            cursor.execute(f"CREATE INDEX ON {table} (conversation_id, parent_id, created_at)")
            cursor.execute(f"CREATE INDEX ON {table} (conversation_id) WHERE status = 'pending'")
            cursor.execute(f"CREATE INDEX ON {table} (parent_id)")


def _fill(table: str, rows: int) -> None:
    step = 100_000
    for first in range(0, rows, step):
        with connection.cursor() as cursor:
            cursor.execute(
                _FILL.format(table=table),
                {
                    "each": _EACH,
                    "first": _FIRST,
                    "months": MONTHS,
                    "from": first,
                    "to": min(first + step, rows) - 1,
                },
            )
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {table}")


def _read_ms(table: str, rows: int) -> float:
    chosen = random.Random(1)
    took = []
    for _ in range(_READS):
        [(one,)] = _fetch("SELECT md5(%s || 'c')::uuid", [str(chosen.randrange(rows // _EACH))])
        begun = time.perf_counter()
        found = _fetch(_READ.format(table=table), [one])
        took.append(time.perf_counter() - begun)
        if len(found) != _EACH:
            raise RuntimeError(f"{len(found)} messages of {one}")
    return statistics.median(took) * 1000


def _write(table: str) -> None:
    now = _FIRST + timedelta(days=30 * MONTHS - 15)
    for first in range(0, _WRITTEN, _BATCH):
        with connection.cursor() as cursor:
            cursor.execute(_WRITE.format(table=table), [first, now, _BATCH])


def _delete(table: str) -> str:
    """What a retention of all but the first months deletes."""
    expired = [
        one for (one,) in _fetch(_EXPIRED.format(table=table), [_FIRST + timedelta(days=31)])
    ]
    with connection.cursor() as cursor:
        begun = time.perf_counter()
        cursor.execute(_DELETE.format(table=table), [expired])
        deleted, seconds = cursor.rowcount, time.perf_counter() - begun
    return f"{deleted / seconds:,.0f} deleted a second ({deleted:,})"


def _fetch(statement: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


def _size(table: str) -> float:
    [(size,)] = _fetch(
        "SELECT (pg_total_relation_size(%s) + coalesce((SELECT sum(pg_total_relation_size(relid))"
        " FROM pg_partition_tree(%s)), 0)) / 1048576",
        [table, table],
    )
    return float(size)


def _seconds(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
