"""`manage.py up` whose processes are forked, as those of the tests' other products are.

Runs as `python -m tests.support.forked_launcher FD up …`: at the other end of FD is the server that
forks them (tests/support/forkserver.py). The launcher, its services and whoever minds them are as
they are for a user; only what a process imports was imported before.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from infra.launcher import supervisor, up
from tests.support import forkserver
from tests.support.processes import expanded
from tests.support.product import OUR_CODE

_LOOK_S = 0.05
_origin = forkserver.Origin(OUR_CODE)


class _Process:
    """With what the supervisor needs of `subprocess.Popen`."""

    def __init__(self, arguments: Sequence[str], *, env: dict[str, str], **_: Any) -> None:
        reading, writing = os.pipe()
        command = arguments[-1].removeprefix("exec ")
        with os.fdopen(writing, "wb") as output:
            self._forked = _origin.fork(expanded(command, env), environment=env, output=output)
        self.stdout = os.fdopen(reading, "rb")
        self.pid = self._forked.pid
        self.poll = self._forked.poll
        self.terminate = self._forked.terminate

    def wait(self, timeout: float | None = None) -> int:
        ends = time.monotonic() + (timeout or float("inf"))
        while (code := self.poll()) is None:
            if time.monotonic() > ends:
                raise subprocess.TimeoutExpired("forked", timeout or 0.0)
            time.sleep(_LOOK_S)
        return code


def main() -> int:
    control = socket.socket(fileno=int(sys.argv[1]))
    replaced: Any = forkserver
    replaced.server = lambda _kind: control
    replaced = supervisor
    replaced.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": _Process})
    return up.main(sys.argv[3:])


if __name__ == "__main__":
    sys.exit(main())
