"""A real pgbouncer in transaction mode, in front of the run's PostgreSQL.

Debian's package, installed where we are root (as Chromium is); elsewhere its tests are skipped by
name. Each transaction gets the connection of the server's that rested longest: whatever a session
was told in one transaction is, in the next, most likely another's.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.db import connections
from django.db.backends.postgresql.base import DatabaseWrapper

from infra.services.ports import LOOPBACK, free_port
from infra.services.process import end_tree, spawn
from infra.services.unprivileged import unprivileged_account

SERVER_CONNECTIONS = 4
_ADMIN = "pgbouncer"


class PgBouncer:
    """In front of the server that `parameters` (Django's settings of a connection) name."""

    def __init__(self, program: str, directory: Path, parameters: dict[str, Any]) -> None:
        self._program, self._directory = program, directory
        self._parameters = parameters
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        user, password = self._parameters["USER"], self._parameters["PASSWORD"]
        names = self._directory / "users.txt"
        names.write_text(f'"{user}" "{password}"\n')
        configuration = self._directory / "pgbouncer.ini"
        configuration.write_text(
            "[databases]\n"
            f"* = host={self._parameters['HOST']} port={self._parameters['PORT']}\n"
            "[pgbouncer]\n"
            f"listen_addr = {LOOPBACK}\nlisten_port = {self.port}\nunix_socket_dir =\n"
            f"auth_type = scram-sha-256\nauth_file = {names}\nadmin_users = {user}\n"
            f"pool_mode = transaction\ndefault_pool_size = {SERVER_CONNECTIONS}\n"
            "max_client_conn = 200\nserver_round_robin = 1\n"
        )
        account = unprivileged_account()
        if account is not None:  # it refuses to run as root
            for path in (self._directory, names, configuration):
                os.chown(path, account.uid, account.gid)
        self._process = spawn(
            [self._program, configuration],
            log=self._directory / "pgbouncer.log",
            account=account,
            cwd=Path("/"),
        )

    def stop(self) -> None:
        if self._process is not None:
            end_tree(self._process.pid)
            self._process.wait()

    def is_up(self) -> bool:
        try:
            self._ask("SHOW VERSION")
        except psycopg.OperationalError:
            return False
        return True

    def transactions(self) -> int:
        """How many have passed through it."""
        rows = self._ask("SHOW STATS")
        return sum(row["total_xact_count"] for row in rows if row["database"] != _ADMIN)

    def open_all(self, database: str) -> None:
        """Have it connect as often as it may, by as many transactions at a time."""
        with ExitStack() as stack:
            for _ in range(SERVER_CONNECTIONS):
                stack.enter_context(self._connect(database)).execute("SELECT 1")

    def _connect(self, database: str, *, autocommit: bool = False) -> psycopg.Connection[Any]:
        return psycopg.connect(
            host=LOOPBACK,
            port=self.port,
            user=self._parameters["USER"],
            password=self._parameters["PASSWORD"],
            dbname=database,
            autocommit=autocommit,
            cursor_factory=psycopg.ClientCursor,
            row_factory=psycopg.rows.dict_row,
        )

    def _ask(self, command: str) -> list[dict[str, Any]]:
        with self._connect(_ADMIN, autocommit=True) as connection:
            return connection.execute(command.encode()).fetchall()


@contextmanager
def default_connection(**changes: Any) -> Iterator[None]:
    """This process' Django connects elsewhere meanwhile, in all its threads."""
    wrapper = connections["default"]
    assert isinstance(wrapper, DatabaseWrapper)
    settings = connections.settings["default"]
    before = {name: settings.get(name) for name in changes}
    wrapper.close()
    wrapper.close_pool()
    settings.update(changes)
    try:
        yield
    finally:
        wrapper.close()
        wrapper.close_pool()
        settings.update(before)
        wrapper.ensure_connection()  # as it was: other tests count on theirs
