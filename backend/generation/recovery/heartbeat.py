"""Renews this process' leases, and learns from them what others ask of it."""

import asyncio

import structlog
from django.db import DatabaseError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.process import Process
from backend.generation.records import generation_epoch_is
from backend.generation.recovery.services_away import SERVICES_AWAY
from backend.generation.run.active import LiveGeneration
from backend.generation.settings import GatewaySettings
from backend.generation.stream import keys
from backend.generation.stream.log import EventLog
from backend.platform.database import in_database

log = structlog.get_logger(__name__)


class Heartbeat:
    """Keeps what this process holds."""

    def __init__(self, process: Process, settings: GatewaySettings) -> None:
        self._process = process
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
        process = self._process
        held = list(process.live.values())
        renewals = await process.leases.renew([(item.opened.id, item.log.lease) for item in held])
        for item, renewal in zip(held, renewals, strict=True):
            if renewal == "cancel":
                item.request_stop("cancelled")
            elif renewal == "fenced":
                item.log.lose()
            elif renewal == "missing" and item.opened.id in process.live:
                await self._restore(item)
        present = await process.leases.processes()
        for queue in process.queues.values():
            if queue.replicas.processes != present:
                queue.replicas.processes = present
                queue.pump()
        if process.follower.followed:
            await process.leases.mark_watched(process.follower.followed)
        await _keep_control(process.redis, process.id, self._settings.lease_s)

    async def _restore(self, live: LiveGeneration) -> None:
        try:
            await restore_lease(self._process, live, self._settings)
        except SERVICES_AWAY:
            raise
        except Exception:
            log.exception("lease_not_restored", generation_id=str(live.opened.id))
            metrics.RECOVERY_FAILURES.labels("heartbeat").inc()


async def restore_lease(process: Process, live: LiveGeneration, settings: GatewaySettings) -> None:
    """Redis has lost the lease (and then probably the events too): take it again and write
    everything again, if the generation is still ours in PostgreSQL."""
    try:
        ours = await in_database(
            generation_epoch_is, generation_id=live.opened.id, epoch=live.epoch
        )
    except DatabaseError as error:
        log.warning("lease_not_restored", error=str(error))
        return
    if ours:
        ours = await process.leases.acquire(
            live.opened, epoch=live.epoch, ttl_ms=settings.request_ttl_ms
        )
    if not ours:
        live.log.lose()
        return
    metrics.BUFFER_LOST.inc()
    log.warning("lease_restored", generation_id=str(live.opened.id), events=live.log.last)
    live.log.rewind(0)
    process.writer.mark(live.log)


async def restore_log(process: Process, event_log: EventLog, settings: GatewaySettings) -> None:
    """The same, for the writer, which knows the log only."""
    live = process.live.get(event_log.generation_id)
    if live is None or live.log is not event_log:
        event_log.lose()
        return
    await restore_lease(process, live, settings)


async def _keep_control(redis: Redis, process_id: str, lease_s: float) -> None:
    await redis.expire(keys.control(process_id), max(1, int(10 * lease_s)))
