"""A process of a product that does what tests have done inside it: `manage.py shell -c`, for the
price of one start. Each statement has names of its own.

The process runs as `python -m tests.support.inside SOCKET`.
"""

import sys
import time
import traceback
from collections.abc import Mapping
from multiprocessing.connection import Client, Listener
from pathlib import Path

from tests.support.forkserver import Origin
from tests.support.processes import ProductProcess

_START_TIMEOUT_S = 60.0


class InsideFailed(RuntimeError):
    """The statements raised; their traceback follows."""


class Inside:
    """Started when it is first asked."""

    def __init__(self, directory: Path, environment: Mapping[str, str], origin: Origin) -> None:
        self._socket = directory / "inside"
        command = f"python -m tests.support.inside {self._socket}"
        log = directory / "inside.log"
        self._process = ProductProcess("inside", command, environment, log, origin=origin)

    def run(self, code: str) -> None:
        self._process.start()
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not self._socket.exists():
            if not self._process.is_running or time.monotonic() > deadline:
                raise InsideFailed(self._process.last_words)
            time.sleep(0.05)
        with Client(str(self._socket)) as connection:
            connection.send(code)
            if (failure := connection.recv()) is not None:
                raise InsideFailed(failure)

    def kill(self) -> None:
        self._process.kill()
        self._socket.unlink(missing_ok=True)


def main() -> int:
    import django
    from django.db import close_old_connections

    django.setup()
    with Listener(sys.argv[1]) as listener:
        while True:
            with listener.accept() as connection:
                code, failure = connection.recv(), None
                try:
                    exec(code, {"__name__": "inside"})
                except Exception:
                    failure = traceback.format_exc()
                close_old_connections()
                connection.send(failure)


if __name__ == "__main__":
    sys.exit(main())
