"""Processes of the product that a test starts, kills by pid and starts again."""

import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from infra.launcher import procfile
from infra.services.process import end_tree, spawn, tail

PYTHON = Path(sys.executable)


class ProductProcess:
    """One process of the Procfile, with its log in a file."""

    def __init__(self, name: str, command: str, environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        self._command = command
        self._environment = procfile.with_our_python(environment, PYTHON)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None, f"{self.name} has not been started"
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def last_words(self) -> str:
        return tail(self.log, lines=20)

    def start(self) -> None:
        if not self.is_running:
            self._process = spawn(
                procfile.argv(self._command),
                log=self.log,
                environment=self._environment,
                # Should the test run be killed, nobody is left to wait for a clean end.
                death_signal=signal.SIGKILL,
                cwd=procfile.ROOT,
            )

    def stop(self) -> None:
        """SIGTERM, as a deployment does it."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL, as a crash does it; its children with it."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            end_tree(self._process.pid, stop_signal=how)
            self._process.wait()
