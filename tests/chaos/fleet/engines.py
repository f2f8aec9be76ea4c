"""Engines with the small model that announce themselves, each behind a network of its own."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil

from tests.support.engine import ENGINE_HEADERS, Engine
from tests.support.tcp_proxy import TcpProxy

# Five of them share the machine with everything else.
_OPTIONS = "--num-blocks 1024 --threads 1"


class FleetEngine:
    """One engine. `network` is between it and the gateway."""

    def __init__(self, name: str, model_file: Path, directory: Path, *, revision: str) -> None:
        self.name = name
        self._engine = Engine(model_file, directory, f"{_OPTIONS} --revision {revision}")
        self.network = TcpProxy(self._engine.port)

    def start(self, registry: str) -> None:
        """It is ready after this, and has announced itself or will within a second."""
        settings = {
            "PARLEY_ENGINE_REGISTRY": registry,
            "PARLEY_ENGINE_ADVERTISE": self.network.url,
            "PARLEY_ENGINE_NAME": self.name,
        }
        self._engine.start({**os.environ, **settings})

    def stop(self) -> None:
        """SIGTERM, and the end of its network."""
        self._engine.stop()
        self.network.close()

    def kill(self) -> None:
        """As a crash of the machine does it."""
        for process in self._family():
            process.kill()
        self.stop()

    def freeze(self) -> None:
        """Server and core; only `kill` and `stop` end it."""
        for process in self._family():
            process.send_signal(signal.SIGSTOP)

    def freeze_core(self) -> None:
        """The server lives on, and shall see it."""
        core = self._core()
        core.send_signal(signal.SIGSTOP)
        wait_until(lambda: not core.is_running(), f"the frozen core of {self.name} is killed")

    def drain(self) -> None:
        """Take nothing new; return when nothing runs there any more."""

        def in_flight() -> int:
            answer = httpx.post(f"{self._engine.url}/drain", headers=ENGINE_HEADERS, timeout=30)
            return int(answer.json()["in_flight"])

        wait_until(lambda: in_flight() == 0, f"{self.name} has drained")

    def _core(self) -> psutil.Process:
        """The server's only child."""
        [core] = psutil.Process(self._engine.pid).children()
        return core

    def _family(self) -> list[psutil.Process]:
        server = psutil.Process(self._engine.pid)
        return [server, *server.children(recursive=True)]


def wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, f"not so after two minutes: {what}"
        time.sleep(0.1)
