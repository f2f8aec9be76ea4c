"""A Ray cluster on this machine, one head and three nodes, with an address each; and what a test
sees of the engines on it: what they announce."""

from __future__ import annotations

import asyncio
import itertools
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from redis import Redis

from backend.generation.pools.registry import INDEX, EngineRecord, opened
from infra.launcher.procfile import ROOT
from infra.ray.pool import PoolOnRay
from infra.services.ports import free_port
from infra.services.valkey import ValkeyService

HEAD = "127.0.0.2"
"""Not .1, in whose place Ray puts the machine's own address."""
KEY = "a key of the engines on Ray"
APPLICATION = "pool"
NODES = 3
PLACES_PER_NODE = 3
"""Engines, at most: one that drains and its successor are there at once."""
DEADLINE_S = 150.0
SLOW_MACHINE = {
    "RAY_raylet_start_wait_time_s": "120",
    "RAY_gcs_server_port_wait_time_s": "60",
    "RAY_agent_register_timeout_ms": "120000",
    "RAY_worker_register_timeout_seconds": "300",
    "RAY_prestart_worker_first_driver": "0",
}
"""Starts are mostly imports, which take a busy machine long. Who connects first would wait for
workers that nobody asked for, and for ever where one of them came too late."""
AGENT_PORTS = (
    "metrics_agent_port",
    "metrics_export_port",
    "dashboard_agent_listen_port",
    "runtime_env_agent_port",
)
"""Of a node, chosen before it starts: its raylet waits 15 s at most to be told one, and ends; those
that it knows may be opened as late as `SLOW_MACHINE` says."""
RAYLET = """#!/bin/sh
port=$(echo "$*" | sed -n 's/.*--listen-port=\\([0-9]*\\).*/\\1/p')
exec '{program}' "$@" --dashboard_agent_listen_port="$port"
"""
"""Ray tells its raylet the other ports, and this one only the agent that opens it."""
_TOKEN = secrets.token_hex(32)
"""Ray's client reads it once in a process: the cluster of a second try has the same."""
_OBJECT_STORE_BYTES = 80 * 1024 * 1024


def settings_of_every_node() -> dict[str, str]:
    """What `cluster.env` says."""
    lines = (ROOT / "infra" / "ray" / "cluster.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


class RayCluster:
    """Started by `running_cluster`; its processes, and those of its engines, end with it."""

    def __init__(self, redis_url: str) -> None:
        self._redis = Redis.from_url(redis_url)
        self._cluster: Any = None
        self.nodes: dict[str, Any] = {}
        self._numbers = itertools.count(3)

    def start(self) -> None:
        import ray
        from ray import serve
        from ray._private import services
        from ray.cluster_utils import Cluster

        raylet = Path(os.environ["RAY_TMPDIR"], "raylet")
        raylet.write_text(RAYLET.format(program=services.RAYLET_EXECUTABLE))
        raylet.chmod(0o700)
        services.RAYLET_EXECUTABLE = str(raylet)
        self._cluster = Cluster(shutdown_at_exit=True)
        self._add_node(HEAD, include_dashboard=False)
        self.complete(NODES)
        ray.init(
            address=self._cluster.address, log_to_driver=False, namespace="parley",
            _node_ip_address=HEAD,
        )  # fmt: skip
        serve.start(proxy_location="Disabled")

    def complete(self, count: int) -> None:
        """Have so many nodes; each that is added has an address that none had before."""
        while len(self.nodes) < count:
            address = f"127.0.0.{next(self._numbers)}"
            self.nodes[address] = self._add_node(address, resources={"place": PLACES_PER_NODE})

    def _add_node(self, address: str, **parameters: Any) -> Any:
        return self._cluster.add_node(
            num_cpus=2,
            node_ip_address=address,
            object_store_memory=_OBJECT_STORE_BYTES,
            include_log_monitor=False,
            no_monitor=True,
            **{name: free_port() for name in AGENT_PORTS},
            **parameters,
        )

    def remove_node(self, address: str) -> None:
        self._cluster.remove_node(self.nodes.pop(address), allow_graceful=False)

    def deploy(self, pool: PoolOnRay) -> None:
        """As `serve deploy` does it; returns when what was deployed runs."""
        from ray import serve

        from infra.ray.application import pool as application

        serve.run(application(pool), name=APPLICATION, route_prefix=None, blocking=False)

    def delete(self) -> None:
        from ray import serve

        serve.delete(APPLICATION)

    @property
    def head(self) -> Any:
        return self._cluster.head_node

    def stop(self) -> None:
        import ray
        from ray import serve

        if ray.is_initialized():  # else Serve would start another cluster to shut it down
            serve.shutdown()
        ray.shutdown()
        if self._cluster is not None:
            self._cluster.shutdown()

    # What is seen.

    def engines(self) -> list[EngineRecord]:
        """Those that announce themselves now and are not draining."""
        return [one for one in self.announced() if one.state == "ready"]

    def announced(self) -> list[EngineRecord]:
        ids: Any = self._redis.smembers(INDEX)
        raw: Any = [self._redis.get(b":".join((INDEX.encode(), one))) for one in ids]
        found = [opened(one, KEY) for one in raw if one]
        return sorted((one for one in found if one is not None), key=lambda one: one.id)

    def until(self, condition: Callable[[], object], *, timeout_s: float = DEADLINE_S) -> None:
        deadline = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < deadline, self.seen()
            time.sleep(0.1)

    def seen(self) -> str:
        """What engines announce, and the last that Serve, its replicas and their engines wrote."""
        lines = [f"{engine.url} {engine.state}" for engine in self.announced()]
        logs = Path(os.environ["RAY_TMPDIR"], "ray", "session_latest", "logs")
        for log in (*logs.glob("serve/*.log"), *logs.glob("worker-*.err")):
            lines += [f"== {log.name}", *log.read_text(errors="replace").splitlines()[-15:]]
        return "\n".join(lines)

    async def until_async(self, condition: Callable[[], object]) -> None:
        await asyncio.to_thread(self.until, condition)

    def has(self, count: int) -> bool:
        return len(self.engines()) == count == len(self.announced())


def node_of(engine: EngineRecord) -> str:
    return str(urlsplit(engine.url).hostname)


def server_of(engine: EngineRecord) -> psutil.Process:
    """The engine's server process: what listens at its address."""
    address = urlsplit(engine.url)
    own = {"inference", "--host", str(address.hostname), "--port", str(address.port)}
    for process in psutil.process_iter(["cmdline"]):
        if own <= {*(process.info["cmdline"] or ())}:
            return process
    raise AssertionError(f"nothing serves {engine.url}")


def followers_of(engine: EngineRecord) -> list[psutil.Process]:
    """The processes of its ranks after the first, by rank."""
    port = server_of(engine).environ()["MASTER_PORT"]
    found = {}
    for process in psutil.process_iter(["cmdline"]):
        if "inference" in (process.info["cmdline"] or ()):
            own = process.environ()
            if own.get("MASTER_PORT") == port and "serve" in process.info["cmdline"]:
                found[int(own["RANK"])] = process
    return [found[rank] for rank in sorted(found) if rank]


def node_of_rank(process: psutil.Process) -> str:
    words = process.cmdline()
    return words[words.index("--host") + 1]


def family_of(engine: EngineRecord) -> list[psutil.Process]:
    """Server and core."""
    server = server_of(engine)
    return [server, *server.children(recursive=True)]


def actor_of(engine: EngineRecord) -> psutil.Process:
    parent = server_of(engine).parent()
    assert parent is not None
    return parent


@contextmanager
def running_cluster(redis_url: str, scratch: Path) -> Iterator[RayCluster]:
    """Its GCS keeps what it knows in a Valkey of its own."""
    gcs_store = ValkeyService(scratch / "gcs")
    gcs_store.start()
    # Sockets lie in it, whose paths have 107 characters at most.
    directory = tempfile.mkdtemp(prefix="r")
    own = {
        **settings_of_every_node(),
        **SLOW_MACHINE,
        "RAY_TMPDIR": directory,
        "RAY_REDIS_ADDRESS": f"127.0.0.1:{gcs_store.port}",
        "RAY_AUTH_TOKEN": _TOKEN,
        "PARLEY_ENGINE_API_KEY": KEY,
        "PARLEY_ENGINE_REGISTRY": redis_url,
        "PYTHONPATH": str(ROOT),
    }
    before = dict(os.environ)
    os.environ.update(own)
    cluster = RayCluster(redis_url)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        gcs_store.destroy()
        shutil.rmtree(directory, ignore_errors=True)
        os.environ.clear()
        os.environ.update(before)
