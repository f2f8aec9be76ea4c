"""`make bench-ledger-partitions`: what it takes to partition a ledger of millions of rows, online.

In a database of its own, as the release before ids said their month left it: a year of records is
filled in, `migrate` brings the schema up to date, and `manage.py partition_ledger` runs, killed
while it validates, killed while it builds the key, and then to its end. All the while a process of
the release before enters records, each in a transaction of its own; from `migrate` on one of this
release does too. Printed: how long each step takes, how long who writes has to wait, the command's
memory, and whether the ledger's sums are what was entered.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from django.apps.registry import Apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from backend.platform.bench_database import bench_database
from backend.platform.ids import time_ordered_id
from backend.platform.partitions import is_partitioned
from billing.bench_conversion import Conversion, Writer, built_when_filled
from billing.partitions import LEDGER, month_of_id

_BEFORE = ("billing", "0031_cached_output")
_FILL_BATCH = 500_000
_IN_KEY_S = 0.4
"""For each million records: the second kill comes so long after the key's index was begun."""
_COLUMNS = (
    "generation_id, occurred_at, organization_id, project_id, user_id, key_id, model, pool,"
    " input_tokens, cached_input_tokens, output_tokens, state, ttft_ms, duration_ms, client_hash"
)
_FILL = f"""
INSERT INTO billing_usagerecord ({_COLUMNS})
SELECT gen_random_uuid(), %(start)s + n * %(step)s * interval '1 second', %(organization)s,
    lpad(to_hex(n %% 200), 32, '0')::uuid, lpad(to_hex(n %% 1000), 32, '0')::uuid,
    lpad(to_hex(n %% 1000), 32, '0')::uuid, 'model-' || n %% 3, 'pool', 1000 + n %% 4000,
    n %% 1000, n %% 2000, 'completed', 200, 3000, ''
FROM generate_series(%(first)s, %(last)s) AS n
"""  # noqa: S608 -- constants of this module
_VALUES = "%s, now(), %s, %s, %s, NULL, 'model', 'pool', 7, 0, 3, 'completed', 200, 3000, ''"
_ENTER_BEFORE = f"INSERT INTO billing_usagerecord ({_COLUMNS}) VALUES ({_VALUES})"  # noqa: S608
_ENTER = f"INSERT INTO billing_usagerecord ({_COLUMNS}, id_month) VALUES ({_VALUES}, %s)"  # noqa: S608
_SUMS = (
    "SELECT count(*), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens)"
    " FROM billing_usagerecord"
)


def measure(rows: int) -> None:
    """Run and print, in a database of its own."""
    with bench_database():
        organization = _begin_as_before()
        _run(rows, organization)


def _begin_as_before() -> UUID:
    """Empty the database and let only the migrations of before run; an organization there."""
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    executor = MigrationExecutor(connection)
    executor.migrate([_BEFORE])
    apps: Apps = MigrationExecutor(connection).loader.project_state([_BEFORE]).apps
    organization = apps.get_model("accounts", "Organization")
    return UUID(str(organization.objects.create(name="Bench", plan_id="free").pk))


def _run(rows: int, organization: UUID) -> None:
    seconds = _fill(rows, organization)
    print(f"{rows:,} records of a year in {seconds:.0f} s, {_size():,.0f} MiB with indexes")
    before = _sums()
    with ExitStack() as writers:
        older = writers.enter_context(Writer(_enter(organization, _ENTER_BEFORE, with_month=False)))
        begun = time.perf_counter()
        call_command("migrate", verbosity=0)
        print(f"migrate {time.perf_counter() - begun:.1f} s; meanwhile {older.latencies()}")
        if is_partitioned(LEDGER.table):
            raise RuntimeError("the ledger of before was to stay as it was")
        ours = writers.enter_context(Writer(_enter(organization, _ENTER, with_month=True)))
        older.took_s.clear()
        begun = time.perf_counter()
        converted = _convert_with_kills(_IN_KEY_S * rows / 1_000_000)
        seconds = time.perf_counter() - begun
        for name, writer in (("before", older), ("this one", ours)):
            print(f"records of the release {name}: {writer.latencies()}")
    print(f"{seconds:.0f} s in all, {rows / seconds:,.0f} records/s", end="; ")
    print(f"memory of the command {converted.peak / 2**20:.0f} MiB at most")
    _compare(before, older.stored + ours.stored)


def _convert_with_kills(in_key_s: float) -> Conversion:
    for killed_at, after_s in (("validate", 0.0), ("key", in_key_s)):
        killed = Conversion("partition_ledger")
        killed.until(killed_at)
        time.sleep(after_s)
        killed.kill()
        print(f"killed {after_s:.2g} s after it began: {killed_at}")
    again = Conversion("partition_ledger")
    again.until(None)
    for line in again.lines:
        print(f"  {line}")
    return again


def _compare(before: tuple[int, ...], entered: int) -> None:
    """Raises RuntimeError where the ledger's sums are not what was entered."""
    expected = tuple(was + more * entered for was, more in zip(before, (1, 7, 0, 3), strict=True))
    found = _sums()
    print(f"records and tokens afterwards {found}, entered {expected}")
    if found != expected or not is_partitioned(LEDGER.table):
        raise RuntimeError("the ledger is not what was entered")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(DISTINCT generation_id), count(DISTINCT id) FROM billing_usagerecord"
        )
        print(f"generations and numbers, each once: {cursor.fetchone()}")


def _enter(organization: UUID, statement: str, *, with_month: bool) -> Callable[[], int]:
    """Enters a record, as the end of a generation does; with an id of that release."""

    def enter() -> int:
        one = time_ordered_id() if with_month else uuid4()
        month = [month_of_id(one)] if with_month else []
        with connection.cursor() as cursor:
            cursor.execute(statement, [one, organization, organization, organization, *month])
        return 1

    return enter


def _fill(rows: int, organization: UUID) -> float:
    """Records whose events are stored: triggers, which would list them as new, rest."""
    begun = time.perf_counter()
    with connection.cursor() as cursor, built_when_filled(LEDGER.table):
        cursor.execute("SET session_replication_role = replica")
        for first in range(0, rows, _FILL_BATCH):
            cursor.execute(
                _FILL,
                {
                    "start": datetime.now(UTC) - timedelta(days=365),
                    "step": timedelta(days=365).total_seconds() / rows,
                    "organization": organization,
                    "first": first,
                    "last": min(first + _FILL_BATCH, rows) - 1,
                },
            )
        cursor.execute("SET session_replication_role = DEFAULT")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE billing_usagerecord")
    return time.perf_counter() - begun


def _sums() -> tuple[int, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_SUMS)
        return tuple(int(each) for each in cursor.fetchone())


def _size() -> float:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_total_relation_size('billing_usagerecord') / 1048576.0")
        return float(cursor.fetchone()[0])
