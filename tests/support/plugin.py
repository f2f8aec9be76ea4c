"""Real PostgreSQL, Valkey and event log for one test run, started when a test first asks for them.

Loaded by `-p` (pyproject.toml): the URLs must stand in the environment before pytest-django reads
the Django settings. So the ports are reserved then, and the servers start with the fixture
`services`, which every fixture of the database needs: a run without such a test starts none. A
variable that is set already is kept: CI may bring its own services. Everything lies in one
directory that is removed at the end (tests/support/run_directory.py).
"""

import contextlib
import functools
import gc
import importlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.services.bundle import ServiceBundle
from infra.services.postgres import DATABASE
from tests.support import cluster
from tests.support.run_directory import run_directory

SERVICES = pytest.StashKey["RunServices"]()

# What is imported stays. To look through it for garbage, again and again, is a tenth of a run.
gc.disable()

# Read when triton is first imported, by whichever test comes first: without a GPU its kernels are
# interpreted.
if not Path("/dev/nvidiactl").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")

# Threads of an engine that wait for each other do not spin: others need the cores.
os.environ.setdefault("GOMP_SPINCOUNT", "0")

# jsonschema would read a grammar of addresses, a second in each process, for formats that no schema
# of ours has: the packages for development bring it along.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

# Each client of httpx reads all roots of trust, 27 ms of processor time, though what the tests ask
# is on this machine and speaks no TLS: here they are read once.
for _transport in ("httpx._transports.default", "httpx2._transports.default"):
    _module = importlib.import_module(_transport)
    _module.create_ssl_context = functools.cache(_module.create_ssl_context)  # type: ignore[attr-defined]

# A port that answers with a refusal at once: tests that need an engine bring one.
_NO_ENGINE = "http://127.0.0.1:9"


class RunServices:
    """The services of this run; `started` tells whether any test has needed them."""

    def __init__(self, directory: Path) -> None:
        self._bundle = ServiceBundle(directory, os.environ, throw_away=True)
        self._postgres = self._bundle.service("DATABASE_URL")
        if self._postgres is not None:
            cluster.share_password(self._postgres.data_dir)
        self._promised = self._bundle.reserve()
        self.started = False
        os.environ.update(self._promised)

    def start(self) -> None:
        """Start them, once, where the environment says that they are."""
        if self.started:
            return
        if self._postgres is not None:
            cluster.place(self._postgres.data_dir)
        if self._bundle.start() != self._promised:
            raise pytest.UsageError("A reserved port was taken by another process. Run again.")
        self.started = True

    @property
    def template(self) -> str | None:
        """The database with all migrations, which the one of the tests begins as a copy of."""
        return None if self._postgres is None else DATABASE

    def destroy(self) -> None:
        self._bundle.destroy()


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Reserve the ports; a wrapper, so that it comes before pytest-django's own hook."""
    kept_open = contextlib.ExitStack()
    early_config.add_cleanup(kept_open.close)
    directory = kept_open.enter_context(run_directory())
    os.environ["PARLEY_TEST_DIRECTORY"] = str(directory)
    var = directory / "var"
    var.mkdir(mode=0o700)
    # Made once, there for the next run too.
    for link in (var / "static", directory / "cluster"):
        kept = early_config.rootpath / ".pytest_cache" / "d" / link.name
        kept.mkdir(parents=True, exist_ok=True)
        link.symlink_to(kept)
    services = early_config.stash[SERVICES] = RunServices(directory / "services")
    early_config.add_cleanup(services.destroy)

    os.environ.setdefault("PARLEY_VAR", str(var))
    os.environ.setdefault("PARLEY_KEYS", f"1:{secrets.token_urlsafe(32)}")
    os.environ.setdefault("PARLEY_OUTBOX_TOKEN", "outbox-of-the-tests")
    os.environ.setdefault("PARLEY_ENGINE_URL", _NO_ENGINE)
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say whether this run needed services: one that only computes should not."""
    started = terminalreporter.config.stash[SERVICES].started
    terminalreporter.write_line(f"services: {'started' if started else 'none needed'}")


def pytest_collection_finish() -> None:
    """From here on garbage is looked for, but not among what the tests have imported, and seldom:
    by Python's usual 700 it is a twentieth of a run."""
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)
    gc.enable()
