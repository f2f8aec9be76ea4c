"""Rows that are written in one statement take a connection of the pool no longer than it runs."""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Thread

import pytest
from django.contrib.sessions.models import Session
from django.db import IntegrityError, connection, transaction

from backend.platform.together import rows_insert

POOLED = 12
"""More than the pool holds."""


def _session(key: str) -> Session:
    return Session(session_key=key, session_data="", expire_date=datetime(2030, 1, 1, tzinfo=UTC))


def _in_thread(work: Callable[[], None]) -> None:
    """Run `work` where no connection has been opened; what it raises is raised here."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


@pytest.mark.django_db(transaction=True)
def test_statement_alone_leaves_no_connection_with_its_thread() -> None:
    held: list[object] = []

    def write() -> None:
        rows_insert([_session("alone")])
        held.append(connection.connection)

    _in_thread(write)
    assert held == [None]
    assert Session.objects.filter(session_key="alone").exists()


@pytest.mark.django_db(transaction=True)
def test_refused_rows_give_their_connection_back() -> None:
    _in_thread(lambda: rows_insert([_session("twice")]))
    for _ in range(POOLED):
        with pytest.raises(IntegrityError):
            _in_thread(lambda: rows_insert([_session("other"), _session("twice")]))
    assert not Session.objects.filter(session_key="other").exists()


@pytest.mark.django_db(transaction=True)
def test_rows_of_a_transaction_go_with_it() -> None:
    def write() -> None:
        with transaction.atomic():
            rows_insert([_session("undone")])
            transaction.set_rollback(True)
        connection.close()

    _in_thread(write)
    assert not Session.objects.filter(session_key="undone").exists()


@pytest.mark.django_db(transaction=True)
def test_statement_alone_gets_another_connection_for_one_that_the_server_ended() -> None:
    ended: list[int] = []

    def find() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            ended.append(cursor.fetchone()[0])
        connection.close()

    _in_thread(find)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", ended)
    for number in range(POOLED):
        _in_thread(lambda key=f"after-{number}": rows_insert([_session(key)]))  # type: ignore[misc]
    assert Session.objects.filter(session_key__startswith="after-").count() == POOLED
