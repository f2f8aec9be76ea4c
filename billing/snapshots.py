"""Several reads of one moment, bounded in time: for what is summed beside requests."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

STATEMENT_TIMEOUT_S = 20
"""A sum that takes longer is given up, so that it cannot keep a connection from others."""


@contextmanager
def one_snapshot() -> Iterator[None]:
    """What is read inside is of one moment; inside a transaction, as its isolation has it."""
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT_S}s'")
        yield
