"""A table becomes partitioned while others write; killed at any step, it goes on."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection

from backend.platform.partitions import (
    CannotPartition,
    Monthly,
    convert,
    is_partitioned,
    make_months,
)

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
EVENTS = Monthly("partitions_test", "occurred_at", "event_id")
STEPS = ["earlier try", "constraint", "validate", "key", "switch", "partitions", "statistics"]


class Killed(Exception):
    """The process is gone."""


def kill_at(step: str) -> Callable[[str], None]:
    def step_begins(name: str) -> None:
        if name == step:
            raise Killed

    return step_begins


@pytest.fixture
def rows() -> Iterator[int]:
    """A table as Django makes it, with rows of a year."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE partitions_test ("
            " event_id uuid PRIMARY KEY, occurred_at timestamptz NOT NULL,"
            " organization_id uuid NOT NULL, tokens integer DEFAULT 0 NOT NULL"
            " CONSTRAINT tokens_positive CHECK (tokens >= 0))"
        )
        cursor.execute("CREATE INDEX partitions_test_org ON partitions_test (organization_id)")
        cursor.execute(
            "CREATE INDEX partitions_test_time ON partitions_test USING brin (occurred_at)"
        )
        cursor.execute(
            "INSERT INTO partitions_test SELECT gen_random_uuid(), %s::timestamptz - n * interval"
            " '1 day', gen_random_uuid(), n FROM generate_series(1, 365) AS n",
            [NOW],
        )
    yield 365
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS partitions_test, partitions_test_before CASCADE")


def insert(moment: datetime, event_id: UUID | None = None) -> int:
    """As the aggregator does, by one statement before and after; how many were new."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO partitions_test (event_id, occurred_at, organization_id)"
            " VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [event_id or uuid4(), moment, uuid4()],
        )
        return int(cursor.rowcount)


def count(table: str = "partitions_test") -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}")
        return int(cursor.fetchone()[0])


def partitions() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhrelid::regclass::text FROM pg_inherits"
            " WHERE inhparent = 'partitions_test'::regclass ORDER BY 1"
        )
        return [name for (name,) in cursor.fetchall()]


def test_table_keeps_rows_keys_checks_and_indexes(rows: int) -> None:
    convert(EVENTS, now=NOW)
    assert is_partitioned("partitions_test")
    assert count() == rows
    assert partitions() == [
        "partitions_test_202701",
        "partitions_test_202702",
        "partitions_test_202703",
        "partitions_test_before",
        "partitions_test_default",
    ]
    again = uuid4()
    for moment in (NOW, NOW + timedelta(days=60), NOW + timedelta(days=4000)):
        assert insert(moment, again) == 1
        assert insert(moment, again) == 0, "the same event, once"
    with pytest.raises(DatabaseError, match="tokens_positive"), connection.cursor() as cursor:
        cursor.execute("UPDATE partitions_test SET tokens = -1")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE tablename = 'partitions_test' ORDER BY 1"
        )
        names = [name for (name,) in cursor.fetchall()]
        assert names == ["partitions_test_org", "partitions_test_pkey", "partitions_test_time"]
        # Every partition has its part of each.
        cursor.execute(
            "SELECT inhparent::regclass::text, count(*) FROM pg_inherits JOIN pg_class ON"
            " pg_class.oid = inhparent WHERE relkind = 'I' AND relname LIKE 'partitions_test%'"
            " GROUP BY 1"
        )
        assert {number for _, number in cursor.fetchall()} == {len(partitions())}


def test_no_row_is_copied(rows: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_filenode('partitions_test')")
        before = cursor.fetchone()
        convert(EVENTS, now=NOW)
        cursor.execute("SELECT pg_relation_filenode('partitions_test_before')")
        assert cursor.fetchone() == before


@pytest.mark.parametrize("killed_at", STEPS)
def test_conversion_that_was_killed_goes_on(rows: int, killed_at: str) -> None:
    with pytest.raises(Killed):
        convert(EVENTS, now=NOW, step=kill_at(killed_at))
    assert insert(NOW) == 1, "others go on meanwhile"
    convert(EVENTS, now=NOW + timedelta(days=2))
    assert count() == rows + 1
    assert "partitions_test_202701" in partitions()


def index_of_key(table: str = "partitions_test_before") -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s)::oid", [f"{table}_pkey"])
        return int(cursor.fetchone()[0] or 0)


def test_index_that_the_database_builds_for_a_killed_try_is_waited_for_and_used(
    rows: int,
) -> None:
    """What kills the command does not stop the statement that it has sent."""
    with pytest.raises(Killed):
        convert(EVENTS, now=NOW, step=kill_at("key"))
    writing = psycopg.connect(**connection.get_connection_params())
    writing.execute("UPDATE partitions_test SET tokens = 1")  # holds the build up

    def build() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE UNIQUE INDEX CONCURRENTLY partitions_test_before_pkey"
                " ON partitions_test (event_id, occurred_at)"
            )
        connection.close()

    killed = threading.Thread(target=build)
    killed.start()
    try:
        while phase_of_build() != "waiting for writers before build":
            killed.join(0.01)
        begun = index_of_key()
        release = threading.Timer(0.5, writing.close)
        release.start()
        convert(EVENTS, now=NOW)
        release.join()
    finally:
        writing.close()
        killed.join()
    assert index_of_key() == begun
    assert is_partitioned("partitions_test")
    assert count() == rows


def phase_of_build() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT phase FROM pg_stat_progress_create_index")
        found = cursor.fetchone()
    return str(found[0]) if found else ""


def test_unfinished_index_and_bound_of_long_ago_are_made_anew(rows: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE partitions_test ADD CONSTRAINT partition_bound_202612"
            " CHECK (occurred_at < '2026-12-01Z') NOT VALID"
        )
        cursor.execute(
            "CREATE UNIQUE INDEX partitions_test_before_pkey"
            " ON partitions_test (event_id, occurred_at)"
        )
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false"
            " WHERE indexrelid = 'partitions_test_before_pkey'::regclass"
        )
    convert(EVENTS, now=NOW)
    assert insert(datetime(2026, 12, 15, tzinfo=UTC)) == 1
    assert count() == rows + 1


def test_writers_go_on_while_the_table_is_converted(rows: int) -> None:
    stop, written, failed = threading.Event(), [0], []

    def write() -> None:
        try:
            while not stop.is_set():
                written[0] += insert(NOW)
        except DatabaseError as error:
            failed.append(error)
        finally:
            connection.close()

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    try:
        convert(EVENTS, now=NOW)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert failed == []
    assert count() >= rows + 1
    assert is_partitioned("partitions_test")


def test_next_months_are_made_ahead_and_take_their_rows_from_the_default(rows: int) -> None:
    convert(EVENTS, now=NOW)
    assert make_months(EVENTS, now=NOW) == []
    late = datetime(2027, 5, 5, tzinfo=UTC)
    assert insert(late) == 1
    assert count("partitions_test_default") == 1
    made = make_months(EVENTS, now=datetime(2027, 2, 1, tzinfo=UTC))
    assert made == [f"partitions_test_20270{month}" for month in (4, 5, 6)]
    assert count("partitions_test_default") == 0
    assert count("partitions_test_202705") == 1


def test_table_that_others_refer_to_is_refused_unchanged(rows: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE refers (id uuid REFERENCES partitions_test)")
        try:
            with pytest.raises(CannotPartition, match="foreign keys"):
                convert(EVENTS, now=NOW)
        finally:
            cursor.execute("DROP TABLE refers")
    assert not is_partitioned("partitions_test")


def test_rows_of_a_time_to_come_are_named(rows: int) -> None:
    insert(datetime(2027, 8, 1, tzinfo=UTC))
    with pytest.raises(CannotPartition, match="2027-08-01"):
        convert(EVENTS, now=NOW)
