"""Which models are asked for, told to what starts and unloads engines.

A pool that is `on_demand` has no replica while nobody asks for it. Each web process writes, once a
second, when such a pool was last used here; the launcher reads it (infra/launcher/fleet.py), loads
the model, and unloads those that were not used for longest when memory is short.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Protocol, cast

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation.pools.replicas import ReplicaSet
from backend.platform.machine_models import ASKED_KEY

log = structlog.get_logger(__name__)

_INTERVAL_S = 0.5


class Waiting(Protocol):
    """A pool's queue, as far as it matters here: how many wait, and for what."""

    @property
    def waiting(self) -> int: ...

    @property
    def replicas(self) -> ReplicaSet: ...


class DemandReport:
    """The loop that writes it."""

    def __init__(self, redis: Redis, queues: Mapping[str, Waiting]) -> None:
        self._redis = redis
        self._queues = queues

    async def run(self) -> None:
        """Runs until it is cancelled."""
        while True:
            await asyncio.sleep(_INTERVAL_S)
            await self.report()

    async def report(self) -> None:
        """Write the pools that are in use now, or were asked for since the last time."""
        used = [queue for queue in list(self._queues.values()) if _is_used(queue)]
        for queue in used:
            queue.replicas.was_asked = False
        if not used:
            return
        now = time.time()
        try:
            times: dict[Any, Any] = {queue.replicas.pool.id: now for queue in used}
            await cast(Any, self._redis.hset(ASKED_KEY, mapping=times))
        except (RedisError, OSError) as error:
            for queue in used:
                queue.replicas.was_asked = True
            log.warning("demand_not_reported", error=str(error))


def _is_used(queue: Waiting) -> bool:
    replicas = queue.replicas
    in_use = replicas.was_asked or replicas.is_in_use or bool(queue.waiting)
    return replicas.pool.on_demand and in_use
