"""A Ray cluster on this machine, one head and three nodes, with an address each; and what a test
sees of the engines on it: what they announce."""

from __future__ import annotations

import asyncio
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
from infra.services.valkey import ValkeyService

HEAD = "127.0.0.2"
"""Not .1, in whose place Ray puts the machine's own address."""
KEY = "a key of the engines on Ray"
APPLICATION = "pool"
NODES = 3
PLACES_PER_NODE = 3
"""Engines, at most: one that drains and its successor are there at once."""
DEADLINE_S = 150.0
SLOW_MACHINE = {"RAY_raylet_start_wait_time_s": "120", "RAY_gcs_server_port_wait_time_s": "60"}
"""A node's start is mostly imports, which take a busy machine long. No setting was found for what
else may end it: its agent must be up within 15 s."""
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
        self.addresses: dict[str, Any] = {}

    def start(self) -> None:
        import ray
        from ray import serve
        from ray.cluster_utils import Cluster

        self._cluster = Cluster(shutdown_at_exit=True)
        self._add_node(HEAD, include_dashboard=False)
        for _ in range(NODES):
            self.add_node()
        ray.init(
            address=self._cluster.address, log_to_driver=False, namespace="parley",
            _node_ip_address=HEAD,
        )  # fmt: skip
        serve.start(proxy_location="Disabled")

    def add_node(self) -> None:
        taken = self.addresses.keys()
        address = next(one for one in (f"127.0.0.{n}" for n in range(3, 200)) if one not in taken)
        self.addresses[address] = self._add_node(address, resources={"place": PLACES_PER_NODE})

    def _add_node(self, address: str, **parameters: Any) -> Any:
        return self._cluster.add_node(
            num_cpus=2,
            node_ip_address=address,
            object_store_memory=_OBJECT_STORE_BYTES,
            **parameters,
        )

    def remove_node(self, address: str) -> None:
        self._cluster.remove_node(self.addresses.pop(address), allow_graceful=False)

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
            assert time.monotonic() < deadline, [(e.url, e.state) for e in self.announced()]
            time.sleep(0.1)

    async def until_async(self, condition: Callable[[], object]) -> None:
        await asyncio.to_thread(self.until, condition)

    def has(self, count: int) -> bool:
        return len(self.engines()) == count == len(self.announced())


def node_of(engine: EngineRecord) -> str:
    return str(urlsplit(engine.url).hostname)


def server_of(engine: EngineRecord) -> psutil.Process:
    """The engine's server process: what listens at its address."""
    port = str(urlsplit(engine.url).port)
    for process in psutil.process_iter(["cmdline"]):
        words = process.info["cmdline"] or []
        if "inference" in words and "--port" in words and port in words:
            return process
    raise AssertionError(f"nothing serves {engine.url}")


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
