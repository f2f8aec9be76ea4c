"""Several reads of one moment, bounded in time: for sums beside requests and on pages."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from backend.platform.replica import read_connection

STATEMENT_TIMEOUT_S = 20.0
"""A sum that takes longer is given up, so that it cannot keep a connection from others."""


@contextmanager
def one_snapshot() -> Iterator[None]:
    """What is read inside is of one moment; inside a transaction, as its isolation has it.

    Raises OperationalError where a statement takes longer than `STATEMENT_TIMEOUT_S`.
    """
    connection = read_connection()
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute(f"SET LOCAL statement_timeout = {round(1000 * STATEMENT_TIMEOUT_S)}")
        yield
