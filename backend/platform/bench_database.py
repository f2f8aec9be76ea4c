"""A database of its own for a benchmark: migrated, and dropped afterwards."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def bench_database() -> Iterator[None]:
    """The default connection leads there; one that a killed run has left is replaced."""
    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        yield
    finally:
        connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
        connection.creation.destroy_test_db(name, verbosity=0)
