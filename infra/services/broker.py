"""The Kafka-compatible event log with the binary of the wheel `noida-db` (decision 0001).

It promises less than Apache Kafka: SIGTERM keeps the data, SIGKILL loses acknowledged
records. Nothing may depend on it remembering: the ledger in PostgreSQL is the truth.
"""

import importlib.util
import socket
import struct
import subprocess
from pathlib import Path

from infra.services.errors import BinaryMissingError, UnusableURLError
from infra.services.ports import LOOPBACK, accepts_connections
from infra.services.process import CONNECT_TIMEOUT_S, Service, spawn


class BrokerService(Service):
    """One broker; its `url` is a bootstrap server, `host:port`."""

    name = "broker"
    wheel = "noida-db"
    variable = "KAFKA_BOOTSTRAP_SERVERS"
    check = "event_log"
    meaning = "Apache Kafka 3.7 or newer, `host:port`, comma separated"
    when_lost = (
        "Kafka, with all its data",
        "reports are late",
        "the relay keeps the outbox; reconciliation publishes again what was lost",
        "start it; `manage.py reconcile --repair`",
    )
    # ApiVersions 0: its length, key 18, version 0, correlation id 1, no client id.
    question = struct.pack(">ihhih", 10, 18, 0, 1, -1)

    def __init__(self, data_dir: Path, *, port: int | None = None, durable: bool = True) -> None:
        super().__init__(data_dir, port=port, durable=durable)
        self._program = _find_program()

    @staticmethod
    def try_url(url: str) -> None:
        """One of the bootstrap servers listens. Clients do the rest, and survive its absence."""
        last_error: Exception = ValueError("no host:port in it")
        for server in url.split(","):
            host, _, port = server.strip().rpartition(":")
            try:
                socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_S).close()
                return
            except (OSError, ValueError) as error:
                last_error = error
        raise UnusableURLError(url, last_error)

    @property
    def program(self) -> Path:
        return self._program

    @property
    def url(self) -> str:
        return f"{LOOPBACK}:{self.port}"

    def _prepare(self) -> None:
        self.data_dir.chmod(0o700)

    def _launch(self) -> subprocess.Popen[bytes]:
        return spawn(
            [
                *(self._program, "start", "--only", "kafka"),
                *("--host", LOOPBACK, "--kafka-port", str(self.port)),
                *("--data-dir", str(self.data_dir.resolve())),
            ],
            log=self.log,
            death_signal=self.stop_signal,
            cwd=self.data_dir,
        )

    def _answers(self) -> bool:
        # It opens its port only when it can answer; a client's handshake would cost 30 ms more.
        return accepts_connections(self.port)


def _find_program() -> Path:
    spec = importlib.util.find_spec("noida_db")
    if spec is None or spec.origin is None:
        raise BinaryMissingError("the event log", BrokerService.wheel)
    program = Path(spec.origin).parent / "noida-db"
    if not program.exists():
        raise BinaryMissingError("the event log", BrokerService.wheel)
    return program
