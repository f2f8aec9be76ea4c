"""Renews the leases of this process, and learns from them what others ask of it."""

import asyncio
from collections.abc import Mapping

import structlog
from django.db import DatabaseError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.admission.queue import AdmissionQueue
from backend.generation.records import generation_standing
from backend.generation.run.active import ActiveGeneration, ActiveGenerations
from backend.generation.settings import GatewaySettings
from backend.generation.stream import keys
from backend.generation.stream.follower import Follower
from backend.generation.stream.leases import Leases
from backend.generation.stream.log import EventLog
from backend.generation.stream.writer import BufferWriter
from backend.platform.database import in_database
from backend.platform.services_away import SERVICES_AWAY

log = structlog.get_logger(__name__)


class Heartbeat:
    """Keeps what this process holds."""

    def __init__(
        self,
        process_id: str,
        redis: Redis,
        registry: ActiveGenerations,
        leases: Leases,
        writer: BufferWriter,
        follower: Follower,
        queues: Mapping[str, AdmissionQueue],
        settings: GatewaySettings,
    ) -> None:
        self._process_id = process_id
        self._redis = redis
        self._registry = registry
        self._leases = leases
        self._writer = writer
        self._follower = follower
        self._queues = queues
        self._settings = settings

    async def run(self) -> None:
        """The heart; runs until it is cancelled."""
        while True:
            try:
                await self.beat()
            except (RedisError, OSError) as error:
                log.warning("heartbeat_failed", error=str(error))
            await asyncio.sleep(self._settings.lease_s / 3)

    async def beat(self) -> None:
        """One round: renew, make good what Redis lost, share the replicas, name our readers."""
        held = list(self._registry)
        renewals = await self._leases.renew([(active.id, active.log.lease) for active in held])
        for active, renewal in zip(held, renewals, strict=True):
            if renewal == "cancel":
                active.request_stop("cancelled")
            elif renewal == "fenced":
                active.log.lose()
            elif renewal == "missing" and active.id in self._registry:
                await self._try_to_restore(active)
        await self._share_replicas()
        if self._follower.followed:
            await self._leases.mark_readers(self._follower.followed)
        lifetime_s = max(1, int(10 * self._settings.lease_s))
        await asyncio.gather(
            *(
                self._redis.expire(keys.control(self._process_id, shard), lifetime_s)
                for shard in keys.shards()
            )
        )

    async def _try_to_restore(self, active: ActiveGeneration) -> None:
        try:
            await self._restore_lease(active)
        except SERVICES_AWAY:
            raise
        except Exception:
            log.exception("lease_not_restored", generation_id=str(active.id))
            metrics.RECOVERY_FAILURES.labels("heartbeat").inc()

    async def restore_log(self, event_log: EventLog) -> None:
        """Redis has lost a log's events: take the lease again and write everything again, if
        the generation is still ours in PostgreSQL."""
        active = self._registry.get(event_log.generation_id)
        if active is None or active.log is not event_log:
            event_log.lose()
            return
        await self._restore_lease(active)

    async def _restore_lease(self, active: ActiveGeneration) -> None:
        """The same, where Redis has lost the lease, and then probably the events too.

        What this process has ended in PostgreSQL is still its own: its last events are on their
        way.
        """
        held = await self._leases.acquire(
            active.admitted, epoch=active.epoch, ttl_ms=self._settings.request_ttl_ms
        )
        if not held:
            active.log.lose()
            return
        try:
            standing = await in_database(
                generation_standing, generation_id=active.id, epoch=active.epoch
            )
        except DatabaseError as error:
            log.warning("lease_not_restored", error=str(error))
            # Without a lease, the next beat tries again.
            await self._leases.release(active.id, active.log.lease, "ended")
            return
        if standing != "ours":
            active.log.lose()
            await self._leases.release(active.id, active.log.lease, "handover")
            return
        metrics.BUFFER_LOST.inc()
        log.warning("lease_restored", generation_id=str(active.id), events=active.log.last)
        active.log.rewind(0)
        self._writer.mark(active.log)

    async def _share_replicas(self) -> None:
        """Every web process takes its share of each replica's places."""
        present = await self._leases.processes()
        for queue in self._queues.values():
            if queue.replicas.processes != present:
                queue.replicas.processes = present
                queue.pump()
