"""A PostgreSQL cluster with all migrations applied: made once, copied for whatever a test starts.

It lies in pytest's cache, where the next run finds it (tests/support/plugin.py links there), one
for each state of the migrations. Making one takes seconds of processor time, copying it tenths.
Whoever gets a copy still migrates: that finds nothing to do. Products that `make run` starts, and
the tests of the services, make their own.
"""

import fcntl
import hashlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg.sql

from infra.launcher.procfile import ROOT
from infra.services.postgres import PostgresService, find_programs
from infra.services.unprivileged import unprivileged_account

_APPS = ("backend", "billing", "safety")


def share_password(data: Path) -> None:
    """For a server with its data in `data`: the password of the kept cluster, before it has one of
    its own."""
    data.mkdir(parents=True, exist_ok=True)
    password = _kept() / "password"
    with _locked(password):
        if not password.exists():
            password.touch(mode=0o600)
            password.write_text(secrets.token_urlsafe(24))
    shutil.copy(password, data / "password")


def place(data: Path) -> None:
    """Put a copy of the kept cluster into `data`, whose password is the shared one."""
    share_password(data)
    kept = _kept() / _digest()
    with _locked(kept):
        if not kept.exists():
            _make(kept)
    _copy(kept, data / "cluster")


def _make(kept: Path) -> None:
    """Make the cluster; those of earlier migrations are removed."""
    with tempfile.TemporaryDirectory(dir=os.environ["PARLEY_TEST_DIRECTORY"]) as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        service = PostgresService(directory / "postgres", durable=False)
        share_password(service.data_dir)
        service.start()
        try:
            subprocess.run(
                [sys.executable, "manage.py", "migrate", "--verbosity", "0", "--skip-checks"],
                cwd=ROOT,
                env={**os.environ, "DATABASE_URL": service.url},
                stdin=subprocess.DEVNULL,
                check=True,
            )
            _let_in_quickly(service.url)
        finally:
            service.stop()
        _shorten_log(service.data_dir / "cluster")
        for old in kept.parent.glob("*"):
            if old.is_dir():
                shutil.rmtree(old)
        unfinished = kept.with_suffix(".unfinished")
        _copy(service.data_dir / "cluster", unfinished)
        unfinished.rename(kept)
        service.destroy()


def _let_in_quickly(url: str) -> None:
    """Whoever connects computes what guessing the password would take, thousands of times over."""
    with psycopg.connect(url) as connection:
        connection.execute("SET scram_iterations = 1")
        password = psycopg.sql.Literal(connection.info.password)
        connection.execute(
            psycopg.sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                psycopg.sql.Identifier(connection.info.user), password
            )
        )


def _shorten_log(cluster: Path) -> None:
    """Of a server that has stopped nothing in its log is needed; new files of it are small."""
    account = unprivileged_account()
    subprocess.run(
        [find_programs(account) / "pg_resetwal", "--wal-segsize=1", cluster],
        cwd="/",
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _copy(source: Path, target: Path) -> None:
    """With its owner: the database's account."""
    subprocess.run(["cp", "-a", f"{source}/.", str(target)], check=True)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Another run may be making the same at this moment."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _kept() -> Path:
    return (Path(os.environ["PARLEY_TEST_DIRECTORY"]) / "cluster").resolve()


def _digest() -> str:
    """Of all that decides what the migrations make, and of how it is kept."""
    digest = hashlib.sha256((ROOT / "constraints.txt").read_bytes() + Path(__file__).read_bytes())
    for app in _APPS:
        for path in sorted((ROOT / app).rglob("migrations/*.py")):
            digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]
