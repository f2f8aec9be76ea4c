"""After a transactional test: the database as Django's flush leaves it, at a fraction of its cost.

A flush empties every table and lets every app make its permissions, groups and plans anew, with
hundreds of queries. That is done once; what the tables hold then is copied. After each later test
one call of a function finds the tables that hold anything else, deletes their rows and puts the
copies back. A function, since PostgreSQL keeps its plans: to parse and plan a question about each
of a hundred tables costs ten times what its answer does. To truncate them takes tenths of a second.

The audit log refuses TRUNCATE and DELETE to everybody. Here triggers rest meanwhile, which takes
the superuser that a test's database is opened by. They rest for the whole life of a connection
beside the tests' own: a session that begins or ends their rest forgets its plans.
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.test import TransactionTestCase

_COPIES = "after_flush"
# Rows, and the latest transaction that wrote one: another number is another content.
_STATE = '(SELECT (count(*), coalesce(max(xmin::text::bigint), 0))::text FROM "{0}")'
_EMPTY = """
IF EXISTS (SELECT FROM "{0}") THEN DELETE FROM "{0}"; END IF;
"""
# Of a table that a flush does not leave empty. Columns by name: nobody orders them.
_PUT_BACK = """
IF {state} <> (SELECT state FROM {copies}.states WHERE name = '{0}') THEN
    DELETE FROM "{0}";
    INSERT INTO "{0}" ({columns}) SELECT {columns} FROM {copies}."{0}";
    UPDATE {copies}.states SET state = {state} WHERE name = '{0}';
END IF;
"""
_RESTORE = """
CREATE FUNCTION {copies}.restore() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
{steps}
END $$
"""
_RESTING = "-c session_replication_role=replica"
_flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # not in the stubs
_is_copied = False


def restore(case: TransactionTestCase) -> None:
    """In the place of `TransactionTestCase._fixture_teardown`."""
    global _is_copied
    if not _is_copied or case.available_apps is not None or case.serialized_rollback:
        with triggers_resting():
            _flush(case)
        with transaction.atomic(), connection.cursor() as cursor:
            _copy(cursor)
        _is_copied = True
        return
    try:
        _call_restore()
    except OperationalError:  # a test has ended all sessions
        _beside().close()
        _call_restore()


def _call_restore() -> None:
    with _beside().cursor() as cursor:
        cursor.execute(f"SELECT {_COPIES}.restore()")


@functools.cache
def _beside() -> BaseDatabaseWrapper:
    """A connection to the tests' database in which triggers rest."""
    beside = connection.copy()
    options = beside.settings_dict["OPTIONS"]
    options.pop("pool", None)  # it belongs to an alias
    options["options"] = f"{options.get('options', '')} {_RESTING}".strip()
    return beside


@contextmanager
def triggers_resting() -> Iterator[None]:
    """Those of foreign keys too: no table waits for another."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield
        finally:
            cursor.execute("RESET session_replication_role")


def _copy(cursor: CursorWrapper) -> None:
    """Copy what the tables hold, and make the function that brings it back."""
    cursor.execute(f"DROP SCHEMA IF EXISTS {_COPIES} CASCADE; CREATE SCHEMA {_COPIES}")
    cursor.execute(f"CREATE TABLE {_COPIES}.states (name text PRIMARY KEY, state text NOT NULL)")
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    steps = []
    for name in tables:
        cursor.execute(f'SELECT * FROM "{name}" LIMIT 1')
        columns = ", ".join(f'"{column.name}"' for column in cursor.description)
        if cursor.fetchone() is None:
            steps.append(_EMPTY.format(name))
            continue
        state = _STATE.format(name)
        cursor.execute(f'CREATE TABLE {_COPIES}."{name}" AS TABLE "{name}"')
        cursor.execute(f"INSERT INTO {_COPIES}.states VALUES ('{name}', {state})")
        steps.append(_PUT_BACK.format(name, columns=columns, copies=_COPIES, state=state))
    cursor.execute(_RESTORE.format(copies=_COPIES, steps="".join(steps)))
