"""Whether replicas take work: probed by every process for itself, published for the admin."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import msgspec
import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import load_pools
from backend.generation.pools.replicas import Replica, ReplicaSet
from backend.platform.redis import async_client, sync_client

log = structlog.get_logger(__name__)

PROBE_INTERVAL_S = 1.0
# A replica that answers no probe and sends nothing at all has frozen. One that is only busy goes on
# with its streams.
MAX_MISSED = 2
MAX_SILENCE_S = 3.0
_KEY = "generation:health"
# Published health that was not renewed for so long is stale.
_FRESH_S = 15.0


class PublishedHealth(msgspec.Struct, frozen=True):
    ready: bool
    detail: str
    outstanding: int
    checked_at: datetime
    url: str = ""


@dataclass(frozen=True, slots=True)
class ReplicaHealth:
    """One replica, as the admin shows it. `checked_at` None: not probed lately."""

    pool: str
    replica: str
    url: str
    ready: bool
    detail: str
    outstanding: int
    checked_at: datetime | None


class HealthMonitor:
    """Probes every replica of every pool.

    Args:
        pools: asked before each round: models come and go.
        on_ready: called with a pool's id after each probe that found one of its replicas ready.
    """

    def __init__(
        self,
        client: UpstreamClient,
        redis_client: Redis,
        pools: Callable[[], Sequence[ReplicaSet]],
        *,
        on_ready: Callable[[str], None],
    ) -> None:
        self._client = client
        self._redis = redis_client
        self._pools = pools
        self._on_ready = on_ready

    async def run(self) -> None:
        """The monitor's task; runs until it is cancelled."""
        while True:
            await asyncio.sleep(PROBE_INTERVAL_S)
            await self.probe_all()

    async def probe_all(self) -> None:
        """One round: every replica at once."""
        await asyncio.gather(
            *(self._probe(replica) for pool in self._pools() for replica in pool.replicas)
        )
        await self._publish()

    async def probe_new(self) -> None:
        """Those that were never probed: a new engine shall not wait for the next round."""
        new = [
            replica for pool in self._pools() for replica in pool.replicas if not replica.was_probed
        ]
        if new:
            await asyncio.gather(*(self._probe(replica) for replica in new))
            await self._publish()

    async def _probe(self, replica: Replica) -> None:
        replica.was_probed = True
        found = await self._client.probe(replica.config)
        if found is None:
            return
        replica.missed = 0 if found.answered else replica.missed + 1
        if not found.answered and not self._is_frozen(replica):
            return
        if replica.mark(found.ready, found.detail):
            log.info(
                "replica_health",
                pool=replica.pool_id,
                replica=replica.config.name,
                ready=found.ready,
                detail=found.detail,
            )
        if found.ready:
            self._on_ready(replica.pool_id)
        elif not found.answered:
            self._client.hang_up(replica.config)

    def _is_frozen(self, replica: Replica) -> bool:
        silent = self._client.silent_s(replica.config) > MAX_SILENCE_S
        return replica.missed >= MAX_MISSED and silent

    async def _publish(self) -> None:
        now = datetime.now(UTC)
        mapping: dict[str, bytes] = {}
        for pool in self._pools():
            for replica in pool.replicas:
                health = PublishedHealth(
                    replica.healthy, replica.detail, replica.outstanding, now, replica.config.url
                )
                mapping[_field(replica.pool_id, replica.config.name)] = msgspec.json.encode(health)
        if not mapping:
            return  # no engine has registered yet; Redis takes no empty hash
        try:
            await self._redis.hset(_KEY, mapping=mapping)  # type: ignore[arg-type]
        except (RedisError, OSError) as error:
            log.warning("health_not_published", error=str(error))


def pool_health() -> list[ReplicaHealth]:
    """Every configured replica with its last published health. Synchronous, for the admin."""
    return _joined(cast(dict[bytes, bytes], sync_client().hgetall(_KEY)))


async def ready_replicas() -> int:
    """How many replicas took work when they were last probed."""
    published = cast(dict[bytes, bytes], await async_client().hgetall(_KEY))
    return sum(health.ready for health in _joined(published))


def _joined(published: dict[bytes, bytes]) -> list[ReplicaHealth]:
    """The configured replicas, and those that have announced themselves and were probed lately."""
    now = datetime.now(UTC)
    decoded = {
        field.decode(): msgspec.json.decode(raw, type=PublishedHealth)
        for field, raw in published.items()
    }
    fresh = {
        field: health
        for field, health in decoded.items()
        if (now - health.checked_at).total_seconds() <= _FRESH_S
    }
    result = []
    for pool in load_pools().models:
        urls = {replica.name: replica.url for replica in pool.replicas}
        for field, health in sorted(fresh.items()):
            of_pool, _, name = field.partition("/")
            if of_pool == pool.id:
                urls.setdefault(name, health.url)
        for name, url in urls.items():
            known = fresh.get(_field(pool.id, name))
            result.append(
                ReplicaHealth(
                    pool=pool.id,
                    replica=name,
                    url=url,
                    ready=known.ready if known else False,
                    detail=known.detail if known else "no web process has probed it lately",
                    outstanding=known.outstanding if known else 0,
                    checked_at=known.checked_at if known else None,
                )
            )
    return result


def _field(pool: str, replica: str) -> str:
    return f"{pool}/{replica}"
