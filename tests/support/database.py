"""After a transactional test: the database as Django's flush leaves it, at a fraction of its cost.

A flush empties every table and lets every app make its permissions, groups and plans anew, with
hundreds of queries. That is done once; what the tables hold then is copied. After each later test
one query tells which tables hold anything else: their rows are deleted, and the copies put back.
To truncate all tables, as a flush does, takes a tenth of a second of processor time.

The audit log refuses TRUNCATE and DELETE to everybody. Here triggers rest meanwhile, which takes
the superuser that a test's database is opened by.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from django.test import TransactionTestCase

_COPIES = "after_flush"
# Rows, and the latest transaction that wrote one: another number is another content.
_STATE = '(SELECT (count(*), coalesce(max(xmin::text::bigint), 0))::text FROM "{0}")'
_flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # not in the stubs


@dataclass(slots=True)
class _Kept:
    """A table that a flush does not leave empty: what puts its rows back, and its state then."""

    put_back: str
    state: str = ""


_kept: dict[str, _Kept] = {}


def restore(case: TransactionTestCase) -> None:
    """In the place of `TransactionTestCase._fixture_teardown`."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    if not _kept or case.available_apps is not None or case.serialized_rollback:
        with triggers_resting():
            _flush(case)
        _copy(tables)
        return
    with triggers_resting(), transaction.atomic(), connection.cursor() as cursor:
        changed = _changed(cursor, tables)
        if not changed:
            return
        cursor.execute(";".join(f'DELETE FROM "{name}"' for name in changed))
        for name in changed:
            if name in _kept:
                cursor.execute(_kept[name].put_back)
                _kept[name].state = _state(cursor, name)


@contextmanager
def triggers_resting() -> Iterator[None]:
    """Those of foreign keys too: no table waits for another."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield
        finally:
            cursor.execute("RESET session_replication_role")


def _changed(cursor: CursorWrapper, tables: list[str]) -> list[str]:
    """Those of `tables` that hold something else than after a flush."""
    questions = []
    for name in tables:
        is_other = f'EXISTS (SELECT FROM "{name}")'
        if name in _kept:
            is_other = f"{_STATE.format(name)} <> '{_kept[name].state}'"
        questions.append(f"SELECT '{name}' WHERE {is_other}")
    cursor.execute(" UNION ALL ".join(questions))
    return [name for (name,) in cursor.fetchall()]


def _state(cursor: CursorWrapper, name: str) -> str:
    cursor.execute(f"SELECT {_STATE.format(name)}")
    [(state,)] = cursor.fetchall()
    return str(state)


def _copy(tables: list[str]) -> None:
    """Copy what the tables hold."""
    _kept.clear()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA IF EXISTS {_COPIES} CASCADE; CREATE SCHEMA {_COPIES}")
        for name in tables:
            cursor.execute(f'SELECT * FROM "{name}" LIMIT 1')
            # By name: a test that takes migrations back and forth changes their order.
            columns = ", ".join(f'"{column.name}"' for column in cursor.description)
            if cursor.fetchone() is not None:
                cursor.execute(f'CREATE TABLE {_COPIES}."{name}" AS TABLE "{name}"')
                put_back = (
                    f'INSERT INTO "{name}" ({columns}) SELECT {columns} FROM {_COPIES}."{name}"'
                )
                _kept[name] = _Kept(put_back, _state(cursor, name))
