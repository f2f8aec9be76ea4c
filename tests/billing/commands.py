"""billing's long-running commands as processes that a test may kill."""

import os
import signal
from pathlib import Path
from typing import Self

from django.conf import settings
from django.db import connection

from infra.services.process import end_tree
from tests.support.forkserver import Forked, Origin

# Tests start, kill and replace many of them, all in one environment.
_ORIGIN = Origin(
    [f"billing.management.commands.{name}" for name in ("relay", "aggregate")],
    apart=["PYTEST_CURRENT_TEST"],
)


class Command:
    """`manage.py NAME` on this test's database and broker."""

    def __init__(self, name: str, log: Path) -> None:
        self.name, self.log = name, log
        self._process: Forked | None = None

    def start(self) -> Self:
        environment = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "KAFKA_BOOTSTRAP_SERVERS": settings.KAFKA_BOOTSTRAP_SERVERS,
        }
        command = ["python", "manage.py", *self.name.split()]
        with self.log.open("ab") as output:
            self._process = _ORIGIN.fork(command, environment=environment, output=output)
        return self

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        end_tree(process.pid, stop_signal=how, grace=30)
        return process.wait()


def database_url() -> str:
    """The URL of the test database, which pytest-django has renamed."""
    parameters = connection.settings_dict
    host = parameters["HOST"].replace("/", "%2F")
    return (
        f"postgresql://{parameters['USER']}:{parameters['PASSWORD']}@{host}"
        f":{parameters['PORT']}/{parameters['NAME']}"
    )
