"""The actor of one replica: it starts an engine, watches it, and drains it before it ends."""

import asyncio
import logging
import os
from typing import Any

import ray
from ray.util.placement_group import placement_group_table
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
from redis.exceptions import RedisError

from inference.config import KEY_VARIABLE, REGISTRY_VARIABLE
from infra.ray.engine import EngineFailedError, EngineProcess
from infra.ray.pool import PoolOnRay
from infra.ray.queue_reading import queue_client, read_queue
from infra.ray.ranks import bundles_of_ranks, environment_of
from infra.services.ports import free_port

log = logging.getLogger(__name__)

QUEUE_VARIABLE = "PARLEY_QUEUE_REDIS"
"""Environment variable of the Redis in which the product's queues are; default: the registry's."""


@ray.remote(max_restarts=0)
class Rank:
    """Another rank of a replica's engine, in a bundle of its own. Lives as long as the replica."""

    def __init__(self, pool: PoolOnRay, rank: int, address: str, port: int) -> None:
        environment = environment_of(rank, pool.ranks, address=address, port=port, own=os.environ)
        self._engine = EngineProcess(
            pool.engine_arguments(_node_address(), 0), environment, key=_key()
        )
        self._engine.start(pool.start_timeout_s)

    def ended(self) -> str:
        """Wait until the process has ended; why it did."""
        return self._engine.wait()


class EngineReplica:
    """One replica of a pool, as Serve keeps it. Carries no request."""

    def __init__(self, pool: PoolOnRay) -> None:
        """Returns when the engine takes work. Raises EngineFailedError."""
        self._pool = pool
        self._queue = queue_client(os.environ.get(QUEUE_VARIABLE) or _of_node(REGISTRY_VARIABLE))
        address = _node_address()
        port = pool.port or free_port()
        meeting_port = free_port() if pool.ranks > 1 else 0
        others = _start_ranks(pool, address, meeting_port)
        registration = {
            "PARLEY_ENGINE_ADVERTISE": f"http://{address}:{port}",
            "PARLEY_ENGINE_NAME": ray.get_runtime_context().get_actor_id()[:12],
        }
        environment = environment_of(
            0, pool.ranks, address=address, port=meeting_port, own={**os.environ, **registration}
        )
        self._engine = EngineProcess(
            pool.engine_arguments(address, port),
            environment,
            url=f"http://{address}:{port}",
            key=_key(),
            other_failure=lambda: _failure_of(others),
            can_restart=pool.ranks == 1,
            max_load_silence_s=pool.max_load_silence_s,
        )
        self._engine.start(pool.start_timeout_s)

    def check_health(self) -> None:
        """Asked by Serve, which replaces a replica that raises three times in a row."""
        if failure := self._engine.failure:
            raise EngineFailedError(failure)

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """What the autoscaler decides by; nothing where the queue cannot be read."""
        try:
            reading = await asyncio.to_thread(read_queue, self._queue, self._pool.pool)
        except (RedisError, OSError) as error:
            log.warning("the queue of %s could not be read: %s", self._pool.pool, error)
            return {}
        running = await asyncio.to_thread(self._engine.requests)
        if reading is None or running is None:
            return {}
        return reading.as_stats(running)

    async def __del__(self) -> None:
        """What Serve calls before it kills the replica, after `graceful_shutdown_timeout_s` at the
        latest: out of the registry, then running answers end, then the engine."""
        left = await asyncio.to_thread(self._engine.drain, self._pool.longest_answer_s)
        if left:
            log.warning("%d answers ran for longer than %g s", left, self._pool.longest_answer_s)


def _start_ranks(pool: PoolOnRay, address: str, port: int) -> list[Any]:
    """Start the ranks after the first; futures of why they end."""
    if pool.ranks == 1:
        return []
    group = ray.util.get_current_placement_group()
    nodes: dict[int, str] = placement_group_table(group)["bundles_to_node_id"]
    bundles = bundles_of_ranks([nodes[bundle] for bundle in range(pool.ranks)])
    started = []
    for rank, bundle in enumerate(bundles):
        if rank == 0:
            continue
        strategy = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=bundle)
        actor = Rank.options(  # type: ignore[attr-defined]
            num_cpus=pool.cpus,
            num_gpus=pool.gpus,
            resources=pool.resources,
            scheduling_strategy=strategy,
        ).remote(pool, rank, address, port)
        # The handle is kept: Ray ends an actor that nothing refers to.
        started.append((actor, actor.ended.remote().future()))
    return started


def _failure_of(ranks: list[Any]) -> str:
    """Why one of the other ranks has ended, "" while all live."""
    for actor, ended in ranks:
        if ended.done():
            why = ended.exception() or ended.result()
            return f"a rank of the engine has ended ({actor}): {why}"
    return ""


def _node_address() -> str:
    return str(ray.util.get_node_ip_address())


def _key() -> str:
    return _of_node(KEY_VARIABLE)


def _of_node(variable: str) -> str:
    """Raises EngineFailedError: without it no gateway finds the engine."""
    try:
        return os.environ[variable]
    except KeyError:
        raise EngineFailedError(f"{variable} is not set on this node") from None
