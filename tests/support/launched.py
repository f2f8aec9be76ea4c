"""The product as `make run` starts it: `manage.py up`, with the launcher's own embedded services.

Tests act over HTTP at `url`, kill what the launcher looks after by its pid, and look at what is
stored with `rows(...)`.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg.rows import dict_row

from infra.launcher.probe import read_demo_login
from infra.launcher.procfile import ROOT
from infra.services.bundle import SERVICE_VARIABLES
from infra.services.ports import free_port
from tests.api.users import Browser
from tests.support import cluster, forkserver
from tests.support.processes import run_python
from tests.support.product import OUTBOX_TOKEN
from tests.support.static_files import share_static_files

_START_TIMEOUT_S = 300.0


class LaunchedProduct:
    """One `manage.py up` on a free port, with its data below `directory`.

    Args:
        settings: environment variables of the launcher; nothing else that the tests set for
            the product in their own process reaches it.
        model: what it fetches beside the small one; "small": nothing.
        migrated: it finds a database with all migrations, as from its second start on.
        forked: its processes are (tests/support/forked_launcher.py).
    """

    def __init__(
        self,
        directory: Path,
        settings: dict[str, str] | None = None,
        *,
        model: str = "small",
        migrated: bool = True,
        forked: bool = False,
    ) -> None:
        self._model = model
        self._forked = forked
        self._migrated = migrated
        self.var = directory / "var"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.urls = [self.url]  # one door for all web processes
        self.lines: list[str] = []
        own = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("PARLEY_") and name not in SERVICE_VARIABLES
        }
        self._environment = {
            **own,
            "PARLEY_VAR": str(self.var),
            "PARLEY_OUTBOX_TOKEN": OUTBOX_TOKEN,
            **(settings or {}),
        }
        self._serves = threading.Event()

    def start(self) -> None:
        """Start it, and wait until it has served its first token."""
        self.var.mkdir(parents=True, exist_ok=True)
        share_static_files(self.var)
        if self._migrated:
            cluster.place(self.var / "services" / "postgres")
        program, server = ["manage.py"], []
        if self._forked:
            server = [forkserver.server().fileno()]
            program = ["-m", "tests.support.forked_launcher", *map(str, server)]
        options = ["up", "--model", self._model, "--port", str(self.port)]
        self.launcher = subprocess.Popen(
            [sys.executable, *program, *options],
            cwd=ROOT,
            pass_fds=server,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        served = self._serves.wait(_START_TIMEOUT_S) and self.launcher.poll() is None
        if not served:
            self.stop()
            raise AssertionError("the product did not serve:\n" + self.output)

    def stop(self) -> int:
        """Ctrl-C, and wait for the end; the launcher's exit code."""
        self.launcher.send_signal(signal.SIGINT)
        try:
            code = self.launcher.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.launcher.kill()
            code = self.launcher.wait()
        self._reader.join()
        return code

    @property
    def output(self) -> str:
        """All that the launcher has printed so far, the logs of its processes too."""
        return "".join(self.lines)

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the launcher gave to its processes."""
        published = json.loads((self.var / "run" / "environment.json").read_text())
        return dict(published["variables"])

    def manage(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """`manage.py ARGUMENTS` in a second terminal, with its output and errors together."""
        return run_python("manage.py", *arguments, environment=self._environment)

    def service(self, name: str) -> psutil.Process:
        """The server process of the embedded service `name`, which must be running."""
        pid, _ = (self.var / "services" / name / f"{name}.pid").read_text().split()
        return psutil.Process(int(pid))

    def rows(self, query: str, parameters: Sequence[object] = ()) -> list[dict[str, Any]]:
        """What is stored, by SQL: the product's own code has no part in the answer."""
        url = self.environment["DATABASE_URL"]
        with psycopg.connect(url, row_factory=dict_row) as connection:
            return connection.execute(query.encode(), parameters).fetchall()

    @contextmanager
    def owner(self) -> Iterator[Browser]:
        """A browser in which the owner of the demo organization is signed in."""
        login = read_demo_login(self.var)
        credentials = {"email": login.email, "password": login.password}
        browser = Browser(self.url)
        try:
            browser.post("/api/auth/login", json=credentials).raise_for_status()
            yield browser
        finally:
            browser.close()

    def wait_until(self, condition: Callable[[], object]) -> None:
        """Fails with the last words of its log when that takes minutes."""
        deadline = time.monotonic() + 240
        while not condition():
            assert time.monotonic() < deadline, self.output[-3000:]
            time.sleep(0.5)  # most conditions ask the product, which costs it

    def processes(self, argument: str) -> list[psutil.Process]:
        """Those of its processes whose command has this argument."""
        found = []
        for process in psutil.Process(self.launcher.pid).children(recursive=True):
            with contextlib.suppress(psutil.NoSuchProcess):
                if argument in process.cmdline():
                    found.append(process)
        return found

    def _read(self) -> None:
        assert self.launcher.stdout is not None
        for line in self.launcher.stdout:
            self.lines.append(line)
            if f"Parley serves at {self.url}" in line:
                self._serves.set()
        self._serves.set()  # it has ended
