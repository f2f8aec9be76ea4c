"""A streaming replica of the run's PostgreSQL: `pg_basebackup`, and a server that follows."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from django.db import connection, connections

from backend.databases import databases
from infra.services.errors import ServiceStartError
from infra.services.ports import LOOPBACK
from infra.services.postgres import PostgresService

SLOT = "replica_of_the_tests"
_WAIT_S = 30.0


class ReplicaService(PostgresService):
    """Follows the server of `primary`, Django's settings of a connection. Call `destroy`."""

    def __init__(self, data_dir: Path, primary: dict[str, Any]) -> None:
        super().__init__(data_dir, durable=False)
        self._primary = primary

    def _password(self) -> str:
        return str(self._primary["PASSWORD"])

    def _initdb(self) -> None:
        """In its place: a copy of the primary, and where it goes on from."""
        account = self._account
        done = subprocess.run(
            [
                self._programs / "pg_basebackup",
                f"--pgdata={self._cluster}",
                "--write-recovery-conf",
                "--checkpoint=fast",
                "--create-slot",
                f"--slot={SLOT}",
                "--no-sync",
                f"--host={self._primary['HOST']}",
                f"--port={self._primary['PORT']}",
                f"--username={self._primary['USER']}",
            ],
            env={"PATH": os.environ["PATH"], "TZ": "UTC", "PGPASSWORD": self._password()},
            cwd="/",
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            shutil.rmtree(self._cluster, ignore_errors=True)
            raise ServiceStartError(self.name, "pg_basebackup failed", done.stderr)

    def database_url(self, name: str) -> str:
        return (
            f"postgresql://{self._primary['USER']}:{self._password()}@{LOOPBACK}:{self.port}/{name}"
        )

    def execute(self, statement: str) -> None:
        """On the replica, as a superuser."""
        with psycopg.connect(self.database_url("postgres"), autocommit=True) as session:
            session.execute(statement.encode())

    def pause(self) -> None:
        """From here on it falls behind."""
        self.execute("SELECT pg_wal_replay_pause()")

    def resume(self) -> None:
        self.execute("SELECT pg_wal_replay_resume()")

    def destroy(self) -> None:
        super().destroy()
        deadline = time.monotonic() + _WAIT_S
        with connection.cursor() as cursor:
            while True:
                cursor.execute(
                    "SELECT active_pid FROM pg_replication_slots WHERE slot_name = %s", [SLOT]
                )
                found = cursor.fetchone()
                if found is None:
                    return
                if found[0] is None:
                    cursor.execute("SELECT pg_drop_replication_slot(%s)", [SLOT])
                    return
                assert time.monotonic() < deadline, "the primary still sends to it"
                time.sleep(0.05)


@contextmanager
def configured(replica: ReplicaService) -> Iterator[None]:
    """Django of this process knows it, as with DATABASE_REPLICA_URL."""
    name = str(connection.settings_dict["NAME"])
    url = replica.database_url(name)
    made = databases("postgresql://any/any", pool=4, replica_url=url)
    made["replica"]["ENGINE"] = "tests.support.replica_engine"
    connections.settings["replica"] = connections.configure_settings(made)["replica"]
    try:
        yield
    finally:
        wrapper = connections["replica"]
        wrapper.close()
        wrapper.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
        del connections["replica"]
        del connections.settings["replica"]
