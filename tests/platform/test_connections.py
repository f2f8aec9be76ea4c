"""A connection that the server has ended is never given to a request, though nothing is asked."""

from threading import Thread

import pytest
from django.db import close_old_connections, connection

from backend.platform.connections import PooledConnection

POOLED = 12
"""More than the pool holds: each of its connections is given out."""


def _in_thread(statement: str) -> list[int]:
    """The server's process that carries out `statement`, on a connection of the pool."""
    found: list[int] = []

    def run() -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                found.append(cursor.fetchone()[0])
        finally:
            close_old_connections()

    thread = Thread(target=run)
    thread.start()
    thread.join()
    return found


@pytest.mark.django_db(transaction=True)
def test_connection_that_the_server_ended_is_replaced() -> None:
    [ended] = _in_thread("SELECT pg_backend_pid()")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [ended])

    given_out = [_in_thread("SELECT pg_backend_pid()") for _ in range(POOLED)]

    assert all(given_out) and [ended] not in given_out


@pytest.mark.django_db(transaction=True)
def test_check_of_an_idle_connection_asks_nothing() -> None:
    with connection.cursor():
        raw = connection.connection
        assert isinstance(raw, PooledConnection)
        assert raw.execute("").statusmessage is None
        assert raw.execute("SELECT 1").statusmessage == "SELECT 1"
