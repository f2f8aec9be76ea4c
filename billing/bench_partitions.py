"""`make bench-partitions`: what it takes to partition an event store of millions of rows, online.

In a database of its own: a plain table is filled with a year of events, and while an aggregator
stores small batches, `manage.py partition_usage_events` runs: killed once while it validates, then
to its end. Printed: how long each step takes, the longest that a batch waited,
the command's memory, and what an aggregator stores before and after.
"""

import argparse
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count

from django.db import connection

from backend.platform.bench_database import bench_database
from billing import events
from billing.aggregator.ingest import KafkaRecord, ingest
from billing.bench import synthetic_events
from billing.bench_conversion import Conversion, Writer, built_when_filled
from billing.models import UsageEvent
from billing.partitions import EVENTS

_FILL_BATCH = 500_000
_BATCH, _SMALL = 5000, 100
_SPEED_EVENTS = 50_000
_FILL = """
INSERT INTO billing_usageevent (
    event_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool, input_tokens,
    cached_input_tokens, output_tokens, state, ttft_ms, duration_ms, client_hash
)
SELECT gen_random_uuid(), %(start)s + n * %(step)s * interval '1 second',
    lpad(to_hex(n %% 200), 32, '0')::uuid,
    lpad(to_hex(n %% 200), 32, '0')::uuid, lpad(to_hex(n %% 1000), 32, '0')::uuid,
    lpad(to_hex(n %% 1000), 32, '0')::uuid, 'model-' || n %% 3, 'pool', n %% 4000, n %% 1000,
    n %% 2000, 'completed', 200, 3000, ''
FROM generate_series(%(first)s, %(last)s) AS n
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    measure(parser.parse_args().rows)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rows", type=int, default=5_000_000)


def measure(rows: int) -> None:
    """Run and print, in a database of its own."""
    with bench_database():
        _run(rows)


def _run(rows: int) -> None:
    with connection.schema_editor() as editor:
        editor.execute("DROP TABLE billing_usageevent CASCADE")
        editor.create_model(UsageEvent)
    seconds = _fill(rows)
    print(f"{rows:,} events of a year in {seconds:.0f} s, {_size():,.0f} MiB with indexes")
    print(f"one table      {_speed(timedelta(0)):>8,.0f} events/s stored")
    with Writer(_store_batches()) as writer:
        killed = Conversion("partition_usage_events")
        killed.until("validate")
        killed.kill()
        print("killed while it validates; begun again:")
        again = Conversion("partition_usage_events")
        again.until(None)
        for line in again.lines:
            print(f"  {line}")
    print(f"meanwhile      {writer.stored:>8,} events in batches of {_SMALL}: {writer.latencies()}")
    print(f"memory of the command: {again.peak / 2**20:.0f} MiB at most")
    # Months that have a partition of their own begin two months from now.
    print(f"in a new month {_speed(timedelta(days=75)):>8,.0f} events/s stored")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM billing_usageevent")
        expected = rows + 2 * _SPEED_EVENTS + writer.stored
        print(f"{cursor.fetchone()[0]:,} events, of {expected:,} that were stored")


def _fill(rows: int) -> float:
    begun = time.perf_counter()
    start = datetime.now(UTC) - timedelta(days=365)
    with connection.cursor() as cursor, built_when_filled(EVENTS.table):
        for first in range(0, rows, _FILL_BATCH):
            cursor.execute(
                _FILL,
                {
                    "start": start,
                    "step": timedelta(days=365).total_seconds() / rows,
                    "first": first,
                    "last": min(first + _FILL_BATCH, rows) - 1,
                },
            )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE billing_usageevent")
    return time.perf_counter() - begun


def _speed(later: timedelta) -> float:
    """Events a second by one aggregator, of a time so much later."""
    values = synthetic_events(_SPEED_EVENTS, first=later.days * 1_000_000, later=later)
    batches = [
        [KafkaRecord(events.TOPIC_RECORDED, 0, 0, value) for value in values[n : n + _BATCH]]
        for n in range(0, len(values), _BATCH)
    ]
    begun = time.perf_counter()
    for batch in batches:
        ingest(batch)
    return len(values) / (time.perf_counter() - begun)


def _size() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size('billing_usageevent') / 1048576.0")
        return float(cursor.fetchone()[0])


def _store_batches() -> Callable[[], int]:
    """Stores a small batch of new events, as an aggregator does."""
    firsts = count(500_000_000, _SMALL)

    def store() -> int:
        values = synthetic_events(_SMALL, first=next(firsts))
        records = [KafkaRecord(events.TOPIC_RECORDED, 0, 0, value) for value in values]
        done = ingest(records)
        if done.rejected:
            raise RuntimeError(f"{done.rejected} events were rejected")
        return done.new

    return store
