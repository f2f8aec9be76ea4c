"""`make bench-billing`: how many usage events a second one aggregator stores, and what COPY does.

Three figures over the same events, in a database of its own that is dropped afterwards:
    ingest   decode, validate, store once, update rollups; batches of 5,000
    repeat   the same events delivered again: nothing changes, so this is the price of a check
    COPY     the same rows into an empty table with the same columns and indexes; no rollups,
             no check for repeats: the floor that PostgreSQL sets
With --kafka the events come from the broker by way of the real consumer. With --export a
million ledger records, say, are exported as CSV, and this process's memory is watched. With
--month 5000000, say, a customer with so many records in the month is served beside one with none.
"""

import argparse
import os
import random
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.settings")
django.setup()

import msgspec  # noqa: E402
from django.db import connection  # noqa: E402

from backend.platform.bench_database import bench_database  # noqa: E402
from billing import events, kafka  # noqa: E402
from billing.aggregator.ingest import COLUMNS, KafkaRecord, copy_line, ingest  # noqa: E402
from billing.aggregator.worker import BATCH, Consumer  # noqa: E402
from billing.bench_budgets import measure_reservations  # noqa: E402
from billing.bench_export import measure_export  # noqa: E402
from billing.bench_month import measure_month  # noqa: E402

ORGANIZATIONS, KEYS_EACH, MODELS, HOURS = 200, 5, 3, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    options = parser.parse_args()
    measure(
        count=options.events,
        through_kafka=options.kafka,
        exported=options.export,
        month=options.month,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--export", type=int, default=0, help="Also export so many records.")
    parser.add_argument("--kafka", action="store_true", help="Also through the broker.")
    parser.add_argument(
        "--month", type=int, default=0, help="Only what a customer with so many records pays."
    )


def measure(*, count: int, through_kafka: bool, exported: int = 0, month: int = 0) -> None:
    """Run and print, in a database of its own."""
    with bench_database():
        if month:
            measure_month(month)
            return
        run(count, through_kafka=through_kafka)
        if exported:
            _export(exported)


def run(count: int, *, through_kafka: bool) -> None:
    batches = [
        [KafkaRecord(events.TOPIC_RECORDED, 0, n, value) for n, value in enumerate(chunk)]
        for chunk in _chunks(synthetic_events(count), BATCH)
    ]
    ingested, cpu = _timed(lambda: [ingest(batch) for batch in batches])
    repeated, _ = _timed(lambda: [ingest(batch) for batch in batches])
    copied = _copy(batches)
    print(f"{count:,} events, {ORGANIZATIONS} organizations, {MODELS} models, {HOURS} hours")
    print(f"ingest   {count / ingested:>10,.0f} events/s   ({cpu / ingested:.0%} of one core here)")
    print(f"repeat   {count / repeated:>10,.0f} events/s")
    print(f"COPY     {count / copied:>10,.0f} rows/s     ingest/COPY {copied / ingested:.2f}")
    median, slow = measure_reservations(2000)
    print(f"reserve  {median:.2f} ms median, {slow:.2f} ms at the 99th of 100 (two budgets)")
    if through_kafka:
        seconds = _through_kafka(synthetic_events(count, first=count))
        print(f"Kafka    {count / seconds:>10,.0f} events/s   (consumer, ingest, commit)")


def _export(rows: int) -> None:
    done = measure_export(rows)
    print(
        f"export   {done.rows / done.seconds:>10,.0f} rows/s     {done.rows:,} rows,"
        f" {done.size / 2**20:,.0f} MiB of CSV, memory +{done.growth / 2**20:.1f} MiB at its peak"
    )


def synthetic_events(count: int, *, first: int = 0, later: timedelta = timedelta(0)) -> list[bytes]:
    """Record values of `count` different events, with the spread of a busy installation."""
    draw = random.Random(first)
    now = datetime.now(UTC) + later
    encoder = msgspec.json.Encoder()
    values = []
    for n in range(first, first + count):
        organization = draw.randrange(ORGANIZATIONS)
        tokens = draw.randrange(1, 4000)
        values.append(
            encoder.encode(
                {
                    "schema": events.SCHEMA_V1,
                    "event_id": str(UUID(int=draw.getrandbits(64) << 64 | n)),
                    "occurred_at": events.timestamp(
                        now - timedelta(seconds=draw.randrange(HOURS * 3600))
                    ),
                    "organization_id": str(UUID(int=organization)),
                    "project_id": str(UUID(int=organization)),
                    "user_id": str(UUID(int=organization)),
                    "key_id": str(UUID(int=draw.randrange(KEYS_EACH))),
                    "model": f"model-{draw.randrange(MODELS)}",
                    "pool": "pool",
                    "input_tokens": tokens,
                    "cached_input_tokens": tokens // 3,
                    "output_tokens": tokens // 2,
                    "state": "completed",
                    "ttft_ms": 200,
                    "duration_ms": 3000,
                    "client_hash": "",
                }
            )
        )
    return values


def _copy(batches: Sequence[Sequence[KafkaRecord]]) -> float:
    lines = ["".join(copy_line(events.decode(m.value)) for m in batch) for batch in batches]
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_copy (LIKE billing_usageevent INCLUDING ALL)")

        def copy_all() -> None:
            for text in lines:
                with cursor.copy(f"COPY bench_copy ({COLUMNS}) FROM STDIN") as copy:
                    copy.write(text)

        seconds, _ = _timed(copy_all)
        cursor.execute("DROP TABLE bench_copy")
    return seconds


def _through_kafka(values: list[bytes]) -> float:
    kafka.ensure_topics()
    producer = kafka.producer()
    for n, value in enumerate(values):
        producer.send(events.TOPIC_RECORDED, value=value, key=str(n % ORGANIZATIONS).encode())
    producer.flush(timeout=120)
    producer.close()
    consumer = Consumer(group=f"bench-{time.time_ns()}", store=ingest)  # offsets of its own
    wanted, stored, started = len(values), 0, 0.0
    while stored < wanted:
        read = consumer.consume_batch()
        started = started or time.perf_counter()  # joining the group is not what is measured
        stored += read
    seconds = time.perf_counter() - started
    consumer.close()
    return seconds


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall and of this process's CPU."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def _chunks(values: list[bytes], size: int) -> list[list[bytes]]:
    return [values[n : n + size] for n in range(0, len(values), size)]


if __name__ == "__main__":
    main()
