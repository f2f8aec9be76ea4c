"""The embedded services keep their promises: data survives, nothing outlives its launcher."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from infra.services.broker import BrokerService
from infra.services.bundle import ServiceBundle
from infra.services.errors import PortBusyError, ServiceStartError
from infra.services.ports import LOOPBACK, accepts_connections, free_port
from infra.services.postgres import PostgresService
from infra.services.process import Service
from infra.services.valkey import ValkeyService
from tests.support import cluster


@pytest.fixture(params=[PostgresService, ValkeyService, BrokerService])
def service(request: pytest.FixtureRequest, passable: Path):
    service: Service = request.param(passable / "service")
    if request.param is PostgresService:
        # To make one is a second of processor time; the tests of the account and the password do.
        cluster.place(service.data_dir)
    yield service
    service.destroy()


def test_service_answers_after_start_and_is_gone_after_stop(service: Service) -> None:
    service.start()
    pid = service.pid
    assert pid is not None
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    assert accepts_connections(service.port)

    service.stop()

    assert not accepts_connections(service.port)
    assert not any(process.is_running() for process in family)
    assert not service.pid_file.exists()


def test_second_start_changes_nothing(service: Service) -> None:
    service.start()
    pid = service.pid
    service.start()
    assert service.pid == pid


def test_service_listens_on_the_loopback_only(service: Service) -> None:
    service.start()
    assert service.pid is not None
    addresses = [
        str(next(iter(connection.laddr)))
        for connection in psutil.Process(service.pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert set(addresses) == {LOOPBACK}


def test_restart_keeps_its_port(service: Service) -> None:
    service.start()
    url = service.url
    service.stop()
    service.start()
    assert service.url == url


def test_port_of_a_dead_server_is_not_given_to_its_clients() -> None:
    outgoing = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    assert all(free_port() < int(outgoing[0]) for _ in range(100))


def test_busy_port_is_named(passable: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as other:
        port = other.getsockname()[1]
        cluster.place(passable / PostgresService.__name__)
        for kind in (PostgresService, ValkeyService, BrokerService):
            with pytest.raises(PortBusyError, match=rf"Port {port} is already in use"):
                kind(passable / kind.__name__, port=port).start()


def test_server_that_ends_while_starting_shows_its_last_words(passable: Path) -> None:
    service = ValkeyService(passable / "valkey")
    (passable / "valkey").mkdir()
    (passable / "valkey" / "appendonlydir").write_text("a file where a folder must be")
    with pytest.raises(ServiceStartError, match="appendonlydir"):
        service.start()
    assert service.pid is None


def test_database_keeps_its_rows_over_a_restart_and_a_crash(passable: Path) -> None:
    service = PostgresService(passable / "postgres")
    cluster.place(service.data_dir)
    try:
        service.start()
        with psycopg.connect(service.url) as connection:
            connection.execute("CREATE TABLE kept (n int)")
            connection.execute("INSERT INTO kept VALUES (1)")
        service.stop()
        service.start()
        with psycopg.connect(service.url) as connection:
            connection.execute("INSERT INTO kept VALUES (2)")
        service.kill()
        service.start()
        with psycopg.connect(service.url) as connection:
            assert connection.execute("SELECT n FROM kept ORDER BY n").fetchall() == [(1,), (2,)]
    finally:
        service.destroy()


def test_database_refuses_a_wrong_password(passable: Path) -> None:
    service = PostgresService(passable / "postgres", durable=False)
    try:
        service.start()
        wrong = service.url.replace(service.url.split(":")[2].split("@")[0], "wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(wrong)
        assert (service.data_dir / "password").stat().st_mode & 0o077 == 0
    finally:
        service.destroy()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to drop its rights")
def test_database_runs_as_another_user_when_started_by_root(passable: Path) -> None:
    service = PostgresService(passable / "postgres", durable=False)
    try:
        service.start()
        assert service.pid is not None
        assert psutil.Process(service.pid).uids().effective != 0
    finally:
        service.destroy()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to drop its rights")
def test_database_works_in_a_closed_folder_as_root(passable: Path) -> None:
    private = passable / "private"
    private.mkdir(mode=0o700)
    service = PostgresService(private / "postgres", durable=False)
    try:
        service.start()
        with psycopg.connect(service.url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        assert private.stat().st_mode & 0o777 == 0o700
    finally:
        service.destroy()
    assert not (private / "postgres" / "cluster").exists()


def test_valkey_keeps_its_keys_over_a_restart(passable: Path) -> None:
    service = ValkeyService(passable / "valkey")
    try:
        service.start()
        redis.Redis.from_url(service.url).set("kept", "yes")
        service.stop()
        service.start()
        assert redis.Redis.from_url(service.url).get("kept") == b"yes"
    finally:
        service.destroy()


def test_configured_url_is_never_shadowed(passable: Path) -> None:
    configured = {
        "DATABASE_URL": "postgresql://nobody@192.0.2.1/none",
        "REDIS_URL": "redis://192.0.2.1/0",
    }
    bundle = ServiceBundle(passable / "bundle", configured, throw_away=True)
    try:
        assert set(bundle.start()) == {"KAFKA_BOOTSTRAP_SERVERS"}
    finally:
        bundle.destroy()


def test_killed_launcher_leaves_no_server_behind(passable: Path) -> None:
    launcher = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent("""
                import sys, time
                from pathlib import Path
                from infra.services.bundle import ServiceBundle
                bundle = ServiceBundle(Path(sys.argv[1]), {}, throw_away=True)
                bundle.start()
                print(*(service.pid for service in bundle.services), flush=True)
                time.sleep(600)
            """),
            str(passable / "bundle"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert launcher.stdout is not None
    servers = [psutil.Process(int(pid)) for pid in launcher.stdout.readline().split()]
    assert len(servers) == 3
    family = servers + [child for server in servers for child in server.children(recursive=True)]

    launcher.send_signal(signal.SIGKILL)
    launcher.wait()

    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive


def test_unreachable_cluster_is_not_created_anew(passable: Path) -> None:
    service = PostgresService(passable / "postgres", durable=False)
    cluster.place(service.data_dir)
    try:
        service.start()
        service.stop()
        passable.chmod(0o700)
        again = PostgresService(passable / "postgres", durable=False)
        if os.getuid() == 0:  # else we are the account ourselves
            with pytest.raises(ServiceStartError):
                again.start()
        passable.chmod(0o711)
        again.start()
        again.stop()
    finally:
        service.destroy()


def test_start_waits_for_the_server_of_a_killed_launcher(passable: Path) -> None:
    """Two servers on one data directory would destroy it."""
    script = (
        "import sys, time; from pathlib import Path\n"
        "from infra.services.postgres import PostgresService\n"
        "s = PostgresService(Path(sys.argv[1])); s.start(); print(s.pid, flush=True)\n"
        "time.sleep(600)"
    )
    launcher = subprocess.Popen(
        [sys.executable, "-c", script, str(passable / "postgres")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert launcher.stdout is not None
    first_server = psutil.Process(int(launcher.stdout.readline()))
    launcher.send_signal(signal.SIGKILL)
    launcher.wait()

    service = PostgresService(passable / "postgres")
    try:
        started = time.monotonic()
        service.start()
        assert time.monotonic() - started < service.start_timeout
        assert not first_server.is_running()
    finally:
        service.destroy()
