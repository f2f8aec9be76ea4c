"""A connection that the server has ended is never given to a request, though nothing is asked.

One that is waited for is given out as soon as the server is back.
"""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import close_old_connections, connection
from psycopg_pool import ConnectionPool

from backend.databases import databases
from backend.platform.connections import PooledConnection
from infra.services.ports import free_port
from tests.billing.commands import database_url
from tests.support.tcp_proxy import TcpProxy

POOLED = 12
"""More than the pool holds: each of its connections is given out."""


@pytest.fixture
def network() -> Iterator[TcpProxy]:
    """At its end nobody listens yet."""
    proxy = TcpProxy(free_port())
    yield proxy
    proxy.close()


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("is_silent", "away_s"), [(False, 6.0), (True, 4.0)])
def test_waiting_request_gets_a_connection_as_soon_as_the_server_is_back(
    network: TcpProxy, is_silent: bool, away_s: float
) -> None:
    """All ask at once, while it is away, and nobody else asks later: no other makes the pool
    connect again. One that is away refuses connections, or takes them and says nothing."""
    parameters = connection.settings_dict
    address = {"host": "127.0.0.1", "port": network.port, "dbname": parameters["NAME"]}
    person = {"user": parameters["USER"], "password": parameters["PASSWORD"]}
    options = databases(database_url(), pool=POOLED)["default"]["OPTIONS"]
    wait = {"connect_timeout": options["connect_timeout"]}

    def asked() -> int:
        with pool.connection() as one:
            return one.execute("SELECT 1").fetchone()[0]

    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        ConnectionPool(kwargs=address | person | wait, **options["pool"], open=False) as pool,
        ThreadPoolExecutor(POOLED) as threads,
    ):
        if is_silent:
            network.lead_to(silent.getsockname()[1])
        waiting = [threads.submit(asked) for _ in range(POOLED)]
        time.sleep(away_s)
        network.lead_to(int(parameters["PORT"]))
        assert [one.result() for one in waiting] == [1] * POOLED


@pytest.mark.django_db
def test_second_host_serves_where_the_first_is_away() -> None:
    own = urlsplit(database_url())
    account, _, place = own.netloc.rpartition("@")
    url = own._replace(netloc=f"{account}@127.0.0.1:{free_port()},{place}").geturl()
    parsed = databases(url, pool=1)["default"]
    with psycopg.connect(
        host=parsed["HOST"],
        port=parsed["PORT"],
        dbname=parsed["NAME"],
        user=parsed["USER"],
        password=parsed["PASSWORD"],
    ) as reached:
        assert reached.info.port == own.port
    settings = databases("postgresql://u:p@a,b:6432/chat?sslmode=require", pool=1)["default"]
    assert (settings["HOST"], settings["PORT"]) == ("a,b", "5432,6432")
    assert (settings["NAME"], settings["OPTIONS"]["sslmode"]) == ("chat", "require")
