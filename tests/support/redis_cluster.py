"""A Redis Cluster and Sentinels of real Valkey servers, and a door with TLS in front of one.

The wheel's Valkey has no TLS: each node announces the port of a door that speaks it.
"""

import asyncio
import ssl
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from pathlib import Path

import redis

from backend.platform.cancellation import end_tasks
from infra.services.ports import LOOPBACK, free_port
from infra.services.valkey import ValkeyService
from tests.support.certificates import Authority

SLOTS = 16_384
NODES = 3
_WAIT_S = 60.0
_MEET_AGAIN_S = 2.0

Doors = list[tuple[int, list[int]]]
"""Of each node its port with TLS, and the list that its own port is put into."""


class ClusterNode(ValkeyService):
    """One master of a cluster. `announced`: the port that clients are sent to."""

    def __init__(self, data_dir: Path, announced: int) -> None:
        super().__init__(data_dir, port=free_port(), durable=False)
        self.bus = free_port()
        self._announced = announced

    def _options(self) -> dict[str, str]:
        return {
            **super()._options(),
            "cluster-enabled": "yes",
            "cluster-port": str(self.bus),
            "cluster-announce-ip": LOOPBACK,
            "cluster-announce-port": str(self._announced),
            "cluster-node-timeout": "1000",
            # A node that is away takes its own slots with it, and nobody else's.
            "cluster-require-full-coverage": "no",
        }

    def client(self) -> redis.Redis:
        return redis.Redis(host=LOOPBACK, port=self.port, socket_timeout=5)


class Replica(ValkeyService):
    """A copy of another server, or with Sentinel's rules the one that may take its place."""

    def __init__(self, data_dir: Path, of: ValkeyService) -> None:
        super().__init__(data_dir, durable=False)
        self._of = of

    def _options(self) -> dict[str, str]:
        return {**super()._options(), "replicaof": f"{LOOPBACK} {self._of.port}"}


@contextmanager
def tls_cluster(directory: Path) -> Iterator[tuple[str, list[ClusterNode]]]:
    """A cluster of three masters behind TLS: its URL, and its nodes."""
    authority = Authority(directory)
    with _in_a_thread(_doors(authority.server_context("redis"))) as doors:
        nodes = [ClusterNode(directory / f"node-{n}", port) for n, (port, _) in enumerate(doors)]
        try:
            for node, (_, target) in zip(nodes, doors, strict=True):
                node.start()
                target.append(node.port)
            _join(nodes)
            hosts = ",".join(f"{LOOPBACK}:{port}" for port, _ in doors)
            yield f"rediss+cluster://{hosts}?ssl_ca_certs={authority.file}", nodes
        finally:
            for node in nodes:
                node.destroy()


def empty(nodes: list[ClusterNode]) -> None:
    """All of them, once they are one cluster again."""
    _until(lambda: all(_is_joined(node, len(nodes)) for node in nodes))
    for node in nodes:
        with node.client() as client:
            client.flushall()


@contextmanager
def _in_a_thread(entered: AbstractAsyncContextManager[Doors]) -> Iterator[Doors]:
    """`entered` in an event loop of its own, which outlives that of a test."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        value = asyncio.run_coroutine_threadsafe(entered.__aenter__(), loop).result()
        try:
            yield value
        finally:
            left = entered.__aexit__(None, None, None)
            asyncio.run_coroutine_threadsafe(_awaited(left), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _awaited(left: Awaitable[object]) -> None:
    await left


@contextmanager
def sentinels(directory: Path) -> Iterator[tuple[str, ValkeyService]]:
    """A master with one replica and a Sentinel that watches both: their URL, and the master."""
    master = ValkeyService(directory / "master", durable=False)
    replica = sentinel = None
    try:
        master.start()
        replica = Replica(directory / "replica", master)
        replica.start()
        sentinel = _Sentinel(directory / "sentinel", master)
        sentinel.start()
        _until(sentinel.knows_the_replica)
        yield f"redis+sentinel://{LOOPBACK}:{sentinel.port}/parley/0", master
    finally:
        for service in (sentinel, replica, master):
            if service is not None:
                service.destroy()


class _Sentinel(ValkeyService):
    """The same program, as the one who watches."""

    def __init__(self, data_dir: Path, master: ValkeyService) -> None:
        super().__init__(data_dir, durable=False)
        self._master = master

    def _arguments(self) -> list[str]:
        # Sentinel keeps its state in its configuration: it wants a file.
        file = self.data_dir / "sentinel.conf"
        file.write_text(
            f"bind {LOOPBACK}\nport {self.port}\ndir {self.data_dir.resolve()}\n"
            f"sentinel monitor parley {LOOPBACK} {self._master.port} 1\n"
            "sentinel down-after-milliseconds parley 500\n"
            "sentinel failover-timeout parley 2000\n"
        )
        return [str(file), "--sentinel"]

    def knows_the_replica(self) -> bool:
        with redis.Redis(host=LOOPBACK, port=self.port, socket_timeout=5) as client:
            return len(client.sentinel_slaves("parley") or ()) == 1


def _join(nodes: list[ClusterNode]) -> None:
    each = SLOTS // len(nodes)
    for n, node in enumerate(nodes):
        last = SLOTS - 1 if n == len(nodes) - 1 else (n + 1) * each - 1
        with node.client() as client:
            client.execute_command("CLUSTER ADDSLOTSRANGE", n * each, last)
    met_at = 0.0

    def joined() -> bool:
        # A node forgets an introduction that took longer than its timeout.
        nonlocal met_at
        if time.monotonic() - met_at > _MEET_AGAIN_S:
            _introduce(nodes)
            met_at = time.monotonic()
        return all(_is_joined(node, len(nodes)) for node in nodes)

    _until(joined)


def _introduce(nodes: list[ClusterNode]) -> None:
    for n, node in enumerate(nodes):
        with node.client() as client:
            for other in nodes[:n]:
                client.execute_command("CLUSTER MEET", LOOPBACK, other.port, other.bus)


def _is_joined(node: ClusterNode, nodes: int) -> bool:
    with node.client() as client:
        info = client.execute_command("CLUSTER INFO")
    counts = int(info["cluster_slots_assigned"]), int(info["cluster_known_nodes"])
    return info["cluster_state"] == "ok" and counts == (SLOTS, nodes)


def _until(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + _WAIT_S
    while True:
        with suppress(redis.RedisError):
            if condition():
                return
        assert time.monotonic() < deadline, "the servers did not find each other"
        time.sleep(0.05)


@asynccontextmanager
async def _doors(context: ssl.SSLContext) -> AsyncIterator[Doors]:
    """As many as there are nodes."""
    doors: Doors = []
    servers: list[asyncio.Server] = []
    tasks: set[asyncio.Task[None]] = set()
    for _ in range(NODES):
        target: list[int] = []

        async def serve(
            reader: asyncio.StreamReader,
            writer: asyncio.StreamWriter,
            target: list[int] = target,
        ) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            with suppress(OSError, asyncio.CancelledError):
                theirs, ours = await asyncio.open_connection(LOOPBACK, target[0])
                async with asyncio.TaskGroup() as both:
                    both.create_task(_copy(reader, ours))
                    both.create_task(_copy(theirs, writer))
            writer.close()
            tasks.discard(task)

        server = await asyncio.start_server(serve, LOOPBACK, 0, ssl=context)
        servers.append(server)
        doors.append((server.sockets[0].getsockname()[1], target))
    try:
        yield doors
    finally:
        for server in servers:
            server.close()
        await end_tasks(tasks)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
