"""After a transactional test: the database as Django's flush leaves it, at a fraction of its cost.

A flush empties the tables and lets every app make its permissions, groups and plans anew, with
hundreds of queries. That is done once; what the tables hold then is copied, and the copies are put
back after each later test.

The audit log refuses TRUNCATE to everybody. Here triggers rest meanwhile, which takes the superuser
that a test's database is opened by.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.color import no_style
from django.db import connection, transaction
from django.test import TransactionTestCase

_COPIES = "after_flush"
_flush = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # not in the stubs
# What puts the copies back: a statement for each table that a flush does not leave empty.
_put_back: list[str] = []


def restore(case: TransactionTestCase) -> None:
    """In the place of `TransactionTestCase._fixture_teardown`."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    if not _put_back or case.available_apps is not None or case.serialized_rollback:
        with _triggers_resting():
            _flush(case)
        _put_back[:] = _copy(tables)
        return
    with _triggers_resting(), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(";".join([*connection.ops.sql_flush(no_style(), tables), *_put_back]))


@contextmanager
def _triggers_resting() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        try:
            yield
        finally:
            cursor.execute("RESET session_replication_role")


def _copy(tables: list[str]) -> list[str]:
    """Copy what the tables hold; the statements that put it back."""
    back = []
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP SCHEMA IF EXISTS {_COPIES} CASCADE; CREATE SCHEMA {_COPIES}")
        for name in tables:
            cursor.execute(f'SELECT * FROM "{name}" LIMIT 1')
            # By name: a test that takes migrations back and forth changes their order.
            columns = ", ".join(f'"{column.name}"' for column in cursor.description)
            if cursor.fetchone() is not None:
                cursor.execute(f'CREATE TABLE {_COPIES}."{name}" AS TABLE "{name}"')
                back.append(
                    f'INSERT INTO "{name}" ({columns}) SELECT {columns} FROM {_COPIES}."{name}"'
                )
    return back
