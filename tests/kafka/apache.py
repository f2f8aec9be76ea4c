"""Apache Kafka in KRaft mode, in the place of the embedded broker: one node, or three.

Source of the settings: Kafka's documentation, "Broker Configs" and "KRaft".
"""

import base64
import os
import random
import subprocess
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from infra.services.broker import BrokerService
from infra.services.ports import LOOPBACK, accepts_connections, free_port
from infra.services.process import Service, spawn
from tests.kafka.libraries import java, libraries

NODES = "PARLEY_TEST_KAFKA_NODES"
"""The environment variable that asks for Apache Kafka where a test ends brokers: 1, or 3."""
_JVM = ("-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_START_TIMEOUT_S = 60.0
_POLL_S = 0.2
# One node, and clients that do not wait for a group to fill.
_SETTINGS = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}
_SETTINGS_OF_THREE = {
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "500",
    "controller.quorum.election.timeout.ms": "1000",
    "controller.quorum.fetch.timeout.ms": "2000",
}


class EventLog(Protocol):
    """A broker, or several, that a test may end.

    `pid` is None while a node is down, `kill` ends one as a crash would, `destroy` deletes the
    data of what was ended, and `start` brings back all that is down.
    """

    @property
    def url(self) -> str: ...
    @property
    def pid(self) -> int | None: ...
    def start(self) -> None: ...
    def kill(self) -> None: ...
    def destroy(self) -> None: ...


@contextmanager
def event_log(directory: Path) -> Iterator[EventLog]:
    """Yield a running event log of the test's own: the embedded broker unless `NODES` says more."""
    count = int(os.environ.get(NODES, "0"))
    if count > 1:
        cluster = KafkaCluster(directory, count)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.close()
        return
    kind = ApacheKafka if count else BrokerService
    broker = kind(directory, port=free_port())
    broker.start()
    try:
        yield broker
    finally:
        broker.destroy()


class ApacheKafka(BrokerService):
    """One node, broker and controller."""

    wheel = ""
    start_timeout = _START_TIMEOUT_S

    def __init__(
        self,
        data_dir: Path,
        *,
        port: int | None = None,
        settings: Mapping[str, str] = MappingProxyType({}),
        cluster_id: str = "",
    ) -> None:
        """
        Args:
            settings: lines of server.properties beside, or in place of, those of one node.
            cluster_id: shared by the nodes of a cluster; a new one where it is empty.
        """
        Service.__init__(self, data_dir, port=port or free_port())
        self._program = java()
        self._libraries = libraries()
        self._settings = dict(settings)
        self._cluster_id = cluster_id or new_cluster_id()
        self._controller = free_port()

    def _properties(self) -> dict[str, str]:
        plaintext = f"PLAINTEXT://{self.url}"
        return {
            **_SETTINGS,
            "node.id": "1",
            "controller.quorum.voters": f"1@{LOOPBACK}:{self._controller}",
            "listeners": f"{plaintext},CONTROLLER://{LOOPBACK}:{self._controller}",
            "advertised.listeners": plaintext,
            "log.dirs": str(self.data_dir / "data"),
            **self._settings,
        }

    def _java(self, *arguments: str) -> list[str]:
        logging = Path(__file__).with_name("log4j2.yaml")
        options = (*_JVM, f"-Dlog4j2.configurationFile={logging}")
        return [str(self._program), *options, "-cp", f"{self._libraries}/*", *arguments]

    def _prepare(self) -> None:
        super()._prepare()
        file = self.data_dir / "server.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in self._properties().items()))
        if not (self.data_dir / "data" / "meta.properties").exists():
            format_disk = ("kafka.tools.StorageTool", "format", "-t", self._cluster_id)
            command = self._java(*format_disk, "-c", str(file), *self._format_options())
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def _format_options(self) -> tuple[str, ...]:
        """Return more options of the disk's format, such as `--add-scram`."""
        return ()

    def _launch(self) -> subprocess.Popen[bytes]:
        return spawn(
            self._java("kafka.Kafka", str(self.data_dir / "server.properties")),
            log=self.log,
            death_signal=self.stop_signal,
            cwd=self.data_dir,
        )


class KafkaCluster:
    """Nodes that hold every record twice or more: see `EventLog`. `kill` ends a random one."""

    def __init__(self, directory: Path, count: int) -> None:
        brokers = [free_port() for _ in range(count)]
        controllers = [free_port() for _ in range(count)]
        voters = ",".join(f"{node}@{LOOPBACK}:{port}" for node, port in enumerate(controllers))
        cluster_id = new_cluster_id()
        self._nodes = []
        for node, (broker, controller) in enumerate(zip(brokers, controllers, strict=True)):
            settings = {
                **_SETTINGS_OF_THREE,
                "node.id": str(node),
                "controller.quorum.voters": voters,
                "listeners": f"PLAINTEXT://{LOOPBACK}:{broker},CONTROLLER://{LOOPBACK}:{controller}",
            }
            place = directory / str(node)
            place.mkdir(parents=True)
            self._nodes.append(
                ApacheKafka(place, port=broker, settings=settings, cluster_id=cluster_id)
            )
        self._choose = random.Random(7)
        self._killed = self._nodes[0]
        self.kills = self.wipes = 0

    @property
    def url(self) -> str:
        return ",".join(node.url for node in self._nodes)

    @property
    def pid(self) -> int | None:
        pids = [node.pid for node in self._nodes]
        return None if None in pids else pids[0]

    def start(self) -> None:
        """Start what is down and wait for all: a node alone has no quorum, and does not answer."""
        for node in self._nodes:
            if node.pid is None:
                node.data_dir.mkdir(exist_ok=True)
                node.start_again()
        deadline = time.monotonic() + _START_TIMEOUT_S
        while not all(accepts_connections(node.port) for node in self._nodes):
            assert time.monotonic() < deadline, "the cluster did not start"
            time.sleep(_POLL_S)

    def kill(self) -> None:
        self._killed = self._choose.choice(self._nodes)
        if self._killed.pid is not None:
            self._killed.kill()
            self.kills += 1

    def destroy(self) -> None:
        """Delete the data of the node that was killed last."""
        self._killed.destroy()
        self.wipes += 1

    def close(self) -> None:
        print(f"cluster: {self.kills} nodes killed, {self.wipes} disks wiped")
        for node in self._nodes:
            node.destroy()


def new_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
