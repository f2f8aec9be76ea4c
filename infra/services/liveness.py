"""Whether a server still says anything: the one sign of life that every protocol has.

An error is an answer (`too many clients`, `loading`): what is full or busy is not dead. Only
silence is: nothing is said within two seconds, three times in a row.
"""

import socket
import threading
from collections.abc import Sequence

from infra.services.ports import LOOPBACK
from infra.services.process import Service

_ANSWER_TIMEOUT_S = 2.0
_PAUSE_S = 1.0
MAX_SILENCES = 3


class LivenessWatch:
    """Asks each of `services` once a second, in a thread of its own."""

    def __init__(self, services: Sequence[Service]) -> None:
        self._services = services
        # By service: the pid that was asked, and how often in a row it said nothing.
        self._silences: dict[str, tuple[int, int]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="liveness")

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    def is_silent(self, service: Service) -> bool:
        """Whether the server process of now has been silent for too long."""
        pid, silences = self._silences.get(service.name, (None, 0))
        return pid == service.pid and silences >= MAX_SILENCES

    def _run(self) -> None:
        while not self._stopping.wait(_PAUSE_S):
            for service in self._services:
                pid = service.pid
                if pid is None:
                    continue
                before, silences = self._silences.get(service.name, (pid, 0))
                spoke = says_anything(service.port, service.question)
                silences = 0 if spoke or before != pid else silences + 1
                self._silences[service.name] = (pid, silences)


def says_anything(port: int, question: bytes) -> bool:
    """Whether the server at `port` reacts to `question`: it answers, or ends the connection.

    A refused connection is no silence either: the server is starting, or has ended.
    """
    try:
        with socket.create_connection((LOOPBACK, port), timeout=_ANSWER_TIMEOUT_S) as connection:
            connection.sendall(question)
            connection.recv(1)
    except TimeoutError:
        return False
    except OSError:
        pass
    return True
