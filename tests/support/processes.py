"""Processes of the product that a test starts, kills by pid and starts again."""

import functools
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from infra.launcher import procfile
from infra.services.process import end_tree, tail
from tests.support.forkserver import Forked, Kind, Origin, fork

PYTHON = Path(sys.executable)


class ProductProcess:
    """One process of the Procfile, with its log in a file."""

    def __init__(
        self,
        name: str,
        command: str,
        environment: Mapping[str, str],
        log: Path,
        *,
        kind: Kind = "product",
        origin: Origin | None = None,
    ) -> None:
        """
        Args:
            kind: of the process that it is forked from.
            origin: forks it instead, where it is one of many of one environment.
        """
        self.name = name
        self.log = log
        self._command = command
        self._environment = procfile.with_our_python(environment, PYTHON)
        self._fork = functools.partial(fork, kind=kind) if origin is None else origin.fork
        self._process: Forked | None = None

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
            arguments = expanded(self._command, self._environment)
            self.log.parent.mkdir(parents=True, exist_ok=True)
            with self.log.open("ab") as output:
                self._process = self._fork(arguments, environment=self._environment, output=output)

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


def run_python(
    *arguments: str, environment: Mapping[str, str], origin: Origin | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `python …` to its end, with its output and errors together.

    Args:
        origin: forks it, where it is one of many of one environment.
    """
    command = ["python", *arguments]
    start = fork if origin is None else origin.fork
    variables = procfile.with_our_python(environment, PYTHON)
    with tempfile.TemporaryFile() as output:
        code = start(command, environment=variables, output=output).wait()
        output.seek(0)
        return subprocess.CompletedProcess(command, code, output.read().decode(errors="replace"))


def expanded(command: str, environment: Mapping[str, str]) -> list[str]:
    """The words of a command line of the Procfile, its variables filled in by the shell."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s\\0' {command}"],
        env=dict(environment),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split("\0")[:-1]
