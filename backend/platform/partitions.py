"""A table that grows for ever becomes one partition a month, while it is read and written.

What there is becomes the first partition as it lies: no row is copied. So that attaching it looks
at no row either, a constraint says beforehand that they all are older than a bound, two months
ahead; it is validated while others write. Each step looks at what is there and does what is
missing: a conversion that was killed goes on where it stopped. Locks that stop writers are asked
for with a short timeout, and again.

A key of a partitioned table contains the column it is partitioned by. Who converts a table has
something else that makes its `key` unique (docs/decisions/0302, 0334). Its statements say
`ON CONFLICT DO NOTHING` without naming columns, and so are right before and after. Other unique
keys are lost: a table that has one which must hold is not fit for this.

Indexes, checks, foreign keys to other tables and triggers are kept. An identity column becomes one
with a sequence as its default: before PostgreSQL 17 a partitioned table has none.

Rows of months that have no partition yet lie in the default one, and are moved when theirs is made.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import OperationalError, connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import errors, sql

MONTHS_AHEAD = 4
_LOCK_TIMEOUT_MS = 500
_LOCK_TRIES = 60
_BUILD_POLL_S = 0.2


class CannotPartition(Exception):
    """The table has what a partitioned one cannot have, or rows of a time that is still to come."""


@dataclass(frozen=True, slots=True)
class Monthly:
    """A table, the column that decides the month (timestamptz, not null), and its primary key."""

    table: str
    column: str
    key: str

    @property
    def before(self) -> str:
        """The partition of all that was there before."""
        return f"{self.table}_before"

    @property
    def rest(self) -> str:
        return f"{self.table}_default"

    def of(self, month: datetime) -> str:
        return f"{self.table}_{month:%Y%m}"


def is_partitioned(table: str) -> bool:
    with connection.cursor() as cursor:
        return _kind(cursor, table) == "p"


def convert(
    monthly: Monthly, *, now: datetime, step: Callable[[str], None] = lambda name: None
) -> None:
    """Partition the table by month, online. Where it is, only months that are missing are made.

    Args:
        step: is told each step before it begins.
    Raises:
        CannotPartition: nothing was changed.
    """
    with connection.cursor() as cursor:
        if _kind(cursor, monthly.table) == "p":
            make_months(monthly, now=now)
            return
        _refuse_unfit(cursor, monthly)
        step("earlier try")
        _wait_for_build(cursor, monthly.table)
        step("constraint")
        bound = _constrain(cursor, monthly, now)
        step("validate")
        _run(cursor, "ALTER TABLE {} VALIDATE CONSTRAINT {}", monthly.table, _bound_name(bound))
        step("key")
        _make_key(cursor, monthly)
        step("switch")
        _locking(partial(_switch, monthly, bound))
        step("partitions")
        make_months(monthly, now=now)
        step("statistics")
        _run(cursor, "ANALYZE {}", monthly.table)


def make_months(monthly: Monthly, *, now: datetime, ahead: int = MONTHS_AHEAD) -> list[str]:
    """Make the partitions of this month and the next ones that are missing; their names."""
    made: list[str] = []
    if not is_partitioned(monthly.table):
        return made
    for month in _months(now, ahead):
        if month >= _first_month(monthly) and not _exists(monthly.of(month)):
            _locking(partial(_make_month, monthly, month))
            made.append(monthly.of(month))
    return made


def _refuse_unfit(cursor: CursorWrapper, monthly: Monthly) -> None:
    cursor.execute(
        "SELECT count(*) FROM pg_constraint WHERE confrelid = %s::regclass AND contype = 'f'",
        [monthly.table],
    )
    if cursor.fetchone()[0]:
        raise CannotPartition(f"{monthly.table} is referred to by foreign keys")


def _wait_for_build(cursor: CursorWrapper, table: str) -> None:
    """Wait until no index of the table is being built: the database goes on with one whose client
    was killed. Looked at again and again, since a statement that waits for the lock has a snapshot
    that the build waits for in its turn: one of the two would be ended as a deadlock."""
    while True:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_progress_create_index WHERE relid = %s::regclass",
            [table],
        )
        if not cursor.fetchone()[0]:
            return
        time.sleep(_BUILD_POLL_S)


def _constrain(cursor: CursorWrapper, monthly: Monthly, now: datetime) -> datetime:
    """Say that all rows are older than a bound, an earlier try's where there was one; the bound."""
    cursor.execute(
        "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND conname LIKE %s",
        [monthly.table, f"{_BOUND}%"],
    )
    for (name,) in cursor.fetchall():
        bound = datetime.strptime(name.removeprefix(_BOUND), "%Y%m").replace(tzinfo=UTC)
        if bound > _next(now):
            return bound
        # Given up too long ago: soon it would refuse what is written.
        _locking(partial(_run, cursor, "ALTER TABLE {} DROP CONSTRAINT {}", monthly.table, name))
    bound = _next(_next(now))
    cursor.execute(
        sql.SQL("SELECT max({}) FROM {}").format(
            sql.Identifier(monthly.column), sql.Identifier(monthly.table)
        )
    )
    newest = cursor.fetchone()[0]
    if newest is not None and newest >= bound:
        raise CannotPartition(
            f"{monthly.table} has rows of {newest:%Y-%m-%d}, after {bound:%Y-%m-%d}"
        )
    statement = sql.SQL("ALTER TABLE {} ADD CONSTRAINT {} CHECK ({} < {}) NOT VALID").format(
        sql.Identifier(monthly.table),
        sql.Identifier(_bound_name(bound)),
        sql.Identifier(monthly.column),
        sql.Literal(bound.isoformat()),
    )
    _locking(partial(cursor.execute, statement))
    return bound


def _make_key(cursor: CursorWrapper, monthly: Monthly) -> None:
    """The unique index that the partition's primary key will be, built while others write."""
    name = f"{monthly.before}_pkey"
    cursor.execute(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [f'"{name}"']
    )
    found = cursor.fetchone()
    if found is not None and found[0]:
        return
    if found is not None:  # of a try that was killed
        _run(cursor, "DROP INDEX CONCURRENTLY {}", name)
    _run(
        cursor,
        "CREATE UNIQUE INDEX CONCURRENTLY {} ON {} ({}, {})",
        *(name, monthly.table, monthly.key, monthly.column),
    )


def _switch(monthly: Monthly, bound: datetime) -> None:
    """In the caller's transaction, in milliseconds: the table's name passes to a partitioned one,
    and what had it becomes its first partition."""
    table, before = monthly.table, monthly.before
    with connection.cursor() as cursor:
        _run(cursor, "LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", table)
        has = _read_parts(cursor, table, leave_out=f"{before}_pkey")
        sequences = {one: _number_by_default(cursor, table, one) for one in has.identities}
        for trigger in has.triggers:
            _run(cursor, "DROP TRIGGER {} ON {}", trigger, table)
        for constraint in has.keys:
            _run(cursor, "ALTER TABLE {} DROP CONSTRAINT {}", table, constraint)
        _run(cursor, "ALTER TABLE {} RENAME TO {}", table, before)
        for name in has.indexes:
            _run(cursor, "ALTER INDEX {} RENAME TO {}", name, f"{name}_before"[:63])
        _run(
            cursor,
            "ALTER TABLE {0} ADD CONSTRAINT {1} PRIMARY KEY USING INDEX {1}",
            before,
            f"{before}_pkey",
        )
        _run(
            cursor,
            "CREATE TABLE {} (LIKE {} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)"
            " PARTITION BY RANGE ({})",
            *(table, before, monthly.column),
        )
        _run(cursor, "ALTER TABLE {} DROP CONSTRAINT {}", table, _bound_name(bound))
        _run(
            cursor,
            "ALTER TABLE {} ADD CONSTRAINT {} PRIMARY KEY ({}, {})",
            *(table, f"{table}_pkey", monthly.key, monthly.column),
        )
        for column, sequence in sequences.items():
            _run(cursor, "ALTER SEQUENCE {} OWNED BY {}.{}", sequence, table, column)
        for definition in (*has.indexes.values(), *has.foreign_keys):
            cursor.execute(definition)
        cursor.execute(
            sql.SQL("ALTER TABLE {} ATTACH PARTITION {} FOR VALUES FROM (MINVALUE) TO ({})").format(
                sql.Identifier(table), sql.Identifier(before), sql.Literal(bound.isoformat())
            )
        )
        _run(cursor, "ALTER TABLE {} DROP CONSTRAINT {}", before, _bound_name(bound))
        _run(cursor, "CREATE TABLE {} PARTITION OF {} DEFAULT", monthly.rest, table)
        for definition in has.triggers.values():
            cursor.execute(definition)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a table has that its successor of the same name gets: names, and statements that make
    it. Keys are named only: each is a primary or unique one without the month."""

    keys: list[str]
    indexes: dict[str, str]
    foreign_keys: list[str]
    triggers: dict[str, str]
    identities: list[str]


def _read_parts(cursor: CursorWrapper, table: str, *, leave_out: str) -> _Parts:
    def rows(statement: str, *parameters: str) -> list[Any]:
        cursor.execute(statement, [table, *parameters])
        found: list[Any] = cursor.fetchall()
        return found

    return _Parts(
        keys=[
            name
            for (name,) in rows(
                "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass"
                " AND contype IN ('p', 'u')"
            )
        ],
        indexes=dict(
            rows(
                "SELECT relname, pg_get_indexdef(indexrelid) FROM pg_index"
                " JOIN pg_class ON pg_class.oid = indexrelid"
                " WHERE indrelid = %s::regclass AND relname <> %s AND NOT EXISTS ("
                "  SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = indrelid)",
                leave_out,
            )
        ),
        foreign_keys=[
            statement
            for (statement,) in rows(
                "SELECT format('ALTER TABLE %%s ADD CONSTRAINT %%I %%s', conrelid::regclass,"
                " conname, pg_get_constraintdef(oid)) FROM pg_constraint"
                " WHERE conrelid = %s::regclass AND contype = 'f'"
            )
        ],
        triggers=dict(
            rows(
                "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger"
                " WHERE tgrelid = %s::regclass AND NOT tgisinternal"
            )
        ),
        identities=[
            name
            for (name,) in rows(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
                " AND attidentity <> '' AND NOT attisdropped"
            )
        ],
    )


def _number_by_default(cursor: CursorWrapper, table: str, column: str) -> str:
    """Numbers go on where the identity's sequence stands; nobody writes meanwhile. The sequence."""
    cursor.execute("SELECT pg_get_serial_sequence(%s, %s)::regclass::text", [table, column])
    old = str(cursor.fetchone()[0])
    new = f"{old}_of_partitions"[:63]
    _run(cursor, "CREATE SEQUENCE {}", new)
    cursor.execute(
        sql.SQL("SELECT setval({}, last_value, is_called) FROM {}").format(
            sql.Literal(new), sql.Identifier(old)
        )
    )
    _run(cursor, "ALTER TABLE {} ALTER {} DROP IDENTITY", table, column)
    _run(cursor, "ALTER SEQUENCE {} RENAME TO {}", new, old)
    cursor.execute(
        sql.SQL("ALTER TABLE {} ALTER {} SET DEFAULT nextval({})").format(
            sql.Identifier(table), sql.Identifier(column), sql.Literal(old)
        )
    )
    return old


def _make_month(monthly: Monthly, month: datetime) -> None:
    """A partition beside the others; rows of its month that lie in the default one move there."""
    first, after = sql.Literal(month.isoformat()), sql.Literal(_next(month).isoformat())
    names = {
        "table": sql.Identifier(monthly.table),
        "rest": sql.Identifier(monthly.rest),
        "month": sql.Identifier(monthly.of(month)),
        "column": sql.Identifier(monthly.column),
        "first": first,
        "after": after,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("LOCK TABLE {rest} IN ACCESS EXCLUSIVE MODE").format(**names))
        cursor.execute(sql.SQL("CREATE TABLE {month} (LIKE {table} INCLUDING ALL)").format(**names))
        # That a table refuses deletions is not meant of rows that stay in it.
        cursor.execute(sql.SQL("ALTER TABLE {rest} DISABLE TRIGGER USER").format(**names))
        cursor.execute(
            sql.SQL(
                "WITH moved AS (DELETE FROM {rest} WHERE {column} >= {first} AND {column} < {after}"
                " RETURNING *) INSERT INTO {month} SELECT * FROM moved"
            ).format(**names)
        )
        cursor.execute(sql.SQL("ALTER TABLE {rest} ENABLE TRIGGER USER").format(**names))
        cursor.execute(
            sql.SQL(
                "ALTER TABLE {table} ATTACH PARTITION {month}"
                " FOR VALUES FROM ({first}) TO ({after})"
            ).format(**names)
        )


def _locking(change: Callable[[], Any]) -> None:
    """Do what stops others, but never wait in their way: who waits for such a lock holds up all who
    come after. Raises OperationalError after many tries."""
    for attempt in range(_LOCK_TRIES):
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = {_LOCK_TIMEOUT_MS}")
                change()
            return
        except OperationalError as error:
            if not isinstance(error.__cause__, errors.LockNotAvailable) or (
                attempt == _LOCK_TRIES - 1
            ):
                raise
            time.sleep(min(0.1 * (attempt + 1), 2.0))


_BOUND = "partition_bound_"


def _bound_name(bound: datetime) -> str:
    return f"{_BOUND}{bound:%Y%m}"


def _kind(cursor: CursorWrapper, table: str) -> str:
    cursor.execute("SELECT relkind::text FROM pg_class WHERE oid = %s::regclass", [table])
    return str(cursor.fetchone()[0])


def _exists(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [table])
        return bool(cursor.fetchone()[0])


def _first_month(monthly: Monthly) -> datetime:
    """From which month on there are partitions of months: where the first one ends."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT substring(pg_get_expr(relpartbound, oid) FROM 'TO \\(''([^'']+)''\\)')"
            "::timestamptz FROM pg_class WHERE oid = to_regclass(%s)",
            [monthly.before],
        )
        found = cursor.fetchone()
    return found[0] if found else datetime.min.replace(tzinfo=UTC)


def _months(now: datetime, ahead: int) -> list[datetime]:
    months = [now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)]
    for _ in range(ahead):
        months.append(_next(months[-1]))
    return months


def _next(moment: datetime) -> datetime:
    """The beginning of the month after `moment`'s."""
    year, month = divmod(moment.year * 12 + moment.month, 12)
    return datetime(year, month + 1, 1, tzinfo=UTC)


def _run(cursor: CursorWrapper, statement: str, *names: str) -> None:
    cursor.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
