"""Embedded services come back by themselves: on their port, with their data, or with a reason."""

import os
import re
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis
from django.conf import settings
from psycopg_pool import ConnectionPool, PoolTimeout

from infra.services import keeper
from infra.services.broker import BrokerService
from infra.services.keeper import ServiceKeeper
from infra.services.liveness import says_anything
from infra.services.ports import LOOPBACK
from infra.services.postgres import PostgresService
from infra.services.process import Service
from infra.services.valkey import ValkeyService

DEADLINE_S = 90.0
KINDS = [PostgresService, ValkeyService, BrokerService]


class Kept:
    """A service that has been started, its keeper, and what the keeper has said."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.said: list[str] = []
        self.keeper = ServiceKeeper([service], lambda name, text: self.said.append(text))

    def tend_until(self, condition: Callable[[], object]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < deadline, self.said
            self.keeper.tend()
            time.sleep(0.05)

    def runs_again(self, former: int | None) -> bool:
        return self.service.pid not in {None, former} and says_anything(
            self.service.port, self.service.question
        )


@contextmanager
def kept(service: Service) -> Iterator[Kept]:
    service.start()
    kept = Kept(service)
    try:
        yield kept
    finally:
        kept.keeper.stop()
        service.destroy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_service_that_is_killed_or_frozen_runs_again_on_its_port(
    kind: type[Service], how: signal.Signals, passable: Path
) -> None:
    with kept(kind(passable / "service")) as it:
        url, former = it.service.url, it.service.pid
        assert former is not None
        os.kill(former, how)
        it.tend_until(lambda: it.runs_again(former))
        assert it.service.url == url
        assert not psutil.pid_exists(former)
        assert ("SIGKILL" if how == signal.SIGKILL else "said nothing") in it.said[0]


def test_database_has_its_rows_when_it_runs_again(passable: Path) -> None:
    with kept(PostgresService(passable / "service")) as it:
        with psycopg.connect(it.service.url) as connection:
            connection.execute("CREATE TABLE kept (n int)")
        former = it.service.pid
        assert former is not None
        os.kill(former, signal.SIGKILL)
        it.tend_until(lambda: it.runs_again(former))
        it.tend_until(lambda: _count(it.service.url, "kept") == 0)


def test_database_runs_again_though_a_session_of_the_killed_server_is_busy(passable: Path) -> None:
    """Such a session does not look whether its server lives, and keeps another from starting."""
    with kept(PostgresService(passable / "service")) as it:
        busy = threading.Thread(target=_count_for_hours, args=[it.service.url], daemon=True)
        busy.start()
        it.tend_until(lambda: _sessions_counting(it.service.url) == 1)
        former = it.service.pid
        assert former is not None
        os.kill(former, signal.SIGKILL)
        it.tend_until(lambda: it.runs_again(former))
        busy.join(DEADLINE_S)
        assert not busy.is_alive()


def test_valkey_has_its_keys_when_it_runs_again(passable: Path) -> None:
    with kept(ValkeyService(passable / "service")) as it:
        with redis.Redis.from_url(it.service.url) as client:
            client.set("kept", "yes")
        former = it.service.pid
        assert former is not None
        os.kill(former, signal.SIGKILL)
        it.tend_until(lambda: it.runs_again(former))
        it.tend_until(lambda: _value(it.service.url, "kept") == b"yes")


def test_service_that_cannot_start_is_tried_after_growing_waits_and_says_why(
    passable: Path,
) -> None:
    with kept(ValkeyService(passable / "service")) as it:
        former = it.service.pid
        assert former is not None
        data = passable / "service" / "appendonlydir"
        data.rename(passable / "aside")
        data.write_text("a file where a folder must be")
        os.kill(former, signal.SIGKILL)

        it.tend_until(lambda: len(_waits(it.said)) >= 4)
        assert _waits(it.said)[:4] == [0.0, 0.5, 1.0, 2.0]
        assert "appendonlydir" in it.said[-1]

        data.unlink()
        (passable / "aside").rename(data)
        it.tend_until(lambda: it.runs_again(former))


def test_service_whose_port_was_taken_says_so_and_waits_for_it(passable: Path) -> None:
    with kept(ValkeyService(passable / "service")) as it:
        former = it.service.pid
        assert former is not None
        os.kill(former, signal.SIGKILL)
        psutil.wait_procs([psutil.Process(former)], timeout=5)
        with socket.create_server((LOOPBACK, it.service.port)):
            it.tend_until(lambda: any("already in use" in text for text in it.said))
        it.tend_until(lambda: it.runs_again(former))


def test_service_that_takes_no_more_connections_is_not_silent(passable: Path) -> None:
    with kept(PostgresService(passable / "service", durable=False)) as it:
        connections = []
        with pytest.raises(psycopg.OperationalError, match="too many clients"):
            while True:
                connections.append(psycopg.connect(it.service.url))
        assert says_anything(it.service.port, it.service.question)
        for connection in connections:
            connection.close()


def test_pool_of_the_web_processes_reconnects_soon_after_a_long_outage(passable: Path) -> None:
    """Left alone it would wait as long again as the outage has lasted."""
    service = PostgresService(passable / "service", durable=False)
    service.start()
    database: dict[str, Any] = settings.DATABASES["default"]
    options = {**database["OPTIONS"]["pool"], "timeout": 1}
    try:
        with ConnectionPool(service.url, check=ConnectionPool.check_connection, **options) as pool:
            pool.putconn(pool.getconn())
            service.kill()
            outage_ends = time.monotonic() + 17
            while time.monotonic() < outage_ends:
                with pytest.raises(PoolTimeout):
                    pool.getconn()
            service.start()
            pool.putconn(pool.getconn(timeout=14))
    finally:
        service.destroy()


def _waits(said: list[str]) -> list[float]:
    """The waits that were announced; starting again without one is a wait of nothing."""
    found = [re.search(r"starting it again(?: in ([\d.]+) s)?", text) for text in said]
    return [float(match.group(1) or 0) for match in found if match]


def _value(url: str, key: str) -> bytes | None:
    """None also while the server takes no connection yet."""
    try:
        with redis.Redis.from_url(url) as client:
            found = client.get(key)
    except redis.ConnectionError:
        return None
    assert found is None or isinstance(found, bytes)
    return found


def _count(url: str, table: str) -> int | None:
    try:
        with psycopg.connect(url) as connection:
            row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    except psycopg.OperationalError:  # it still recovers
        return None
    return int(row[0]) if row else None


def _count_for_hours(url: str) -> None:
    try:
        with psycopg.connect(url) as connection:
            connection.execute("SELECT count(*) FROM generate_series(1, 1000000000000)")
    except psycopg.OperationalError:
        pass


def _sessions_counting(url: str) -> int:
    query = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT count%generate_series%'"
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query + " AND pid <> pg_backend_pid()").fetchone()
    assert row is not None
    return int(row[0])


def test_service_that_keeps_ending_is_never_away_for_long() -> None:
    """While one is away, so is the whole product; a start of it costs little."""
    restarts = keeper._Kept(BrokerService(Path("unused"))).restarts
    waits = []
    for _ in range(7):
        restarts.begun()
        waits.append(restarts.ended())
    assert waits == [0.0, 0.5, 1.0, 2.0, 4.0, 4.0, 4.0]
