"""Takes up generations whose process has died or handed them over.

Two processes may try at once. The claim in Redis saves work; what decides is the epoch, counted
up in PostgreSQL: only its newest holder can append to the events or end the generation.

One that meets an unexpected exception (events that this version cannot read, say) is left alone
for a while, so that another process may try, and others are looked at meanwhile. When its time is
over it is left to the reaper. One whose model was removed ends from its events, as far as it got.
"""

import asyncio
import time
from datetime import timedelta
from uuid import UUID

import msgspec
import structlog
from django.db import DatabaseError
from django.utils import timezone
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.admission.queue import AdmissionQueue, Ticket
from backend.generation.finish.finalize import settle_budget, settle_limits
from backend.generation.finish.result import error_of
from backend.generation.models import Generation, GenerationState
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.replicas import ReplicaSet
from backend.generation.process import Process
from backend.generation.records import generation_claim, usage_facts
from backend.generation.recovery.disconnect import abandonment_check
from backend.generation.recovery.services_away import SERVICES_AWAY
from backend.generation.request import DONE, GenerationRequest, Usage
from backend.generation.run.active import LiveGeneration, encoder_for
from backend.generation.run.task import generation_run
from backend.generation.settings import GatewaySettings
from backend.generation.stream.leases import OpenGeneration
from backend.generation.stream.log import Entry, EventLog
from backend.generation.stream.replay import EventMeta, Replay, replay
from backend.platform.database import in_database
from backend.platform.errors import ModelNotFound
from safety.audit.selectors import policy_for

log = structlog.get_logger(__name__)

_AT_A_TIME = 16
_META = msgspec.msgpack.Decoder(EventMeta)
_NO_META = msgspec.msgpack.encode(EventMeta())
_BUFFER_WAIT_S = 10.0
# How long one that could not be failed over is left alone here.
_RETRY_LEASES = 5


class TakeoverLoop:
    """Looks for lapsed leases."""

    def __init__(self, process: Process, settings: GatewaySettings) -> None:
        self._process = process
        self._settings = settings
        self._retry_s = _RETRY_LEASES * settings.lease_s
        self._retry_at: dict[UUID, float] = {}

    async def run(self) -> None:
        """The loop's task; ends when the process drains."""
        while not self._process.draining:
            await asyncio.sleep(self._settings.lease_s / 6)
            try:
                await self.round()
            except (RedisError, OSError, DatabaseError) as error:
                log.warning("takeover_round_failed", error=str(error))

    async def round(self) -> None:
        """Take up everything whose lease has lapsed."""
        # Those that are left alone come on top, or enough of them would hide all others.
        lapsed = await self._process.leases.lapsed(_AT_A_TIME + len(self._retry_at))
        self._retry_at = {one: at for one, at in self._retry_at.items() if one in lapsed}
        for generation_id in lapsed:
            alone = self._retry_at.get(generation_id, 0.0) > time.monotonic()
            if not alone and generation_id not in self._process.live:
                await self._try(generation_id)

    async def _try(self, generation_id: UUID) -> None:
        try:
            await self._take_up(generation_id)
        except SERVICES_AWAY:
            raise
        except Exception:
            log.exception("failover_failed", generation_id=str(generation_id))
            metrics.RECOVERY_FAILURES.labels("failover").inc()
            self._retry_at[generation_id] = time.monotonic() + self._retry_s
            await self._leave_if_overdue(generation_id)

    async def _leave_if_overdue(self, generation_id: UUID) -> None:
        """Have Redis forget one whose time is long over: then the reaper settles it."""
        leases = self._process.leases
        row = await in_database(_overdue_row, generation_id, self._retry_s)
        if row is not None:
            await leases.release(generation_id, leases.value(_epoch_here(row)), "ended")
            await leases.forget(generation_id)

    async def _take_up(self, generation_id: UUID) -> None:
        leases = self._process.leases
        if not await leases.claim(generation_id):
            return
        opened = await leases.stored(generation_id)
        row = await in_database(generation_claim, generation_id=generation_id)
        if opened is None or row is None:
            await leases.forget(generation_id)  # the reaper settles what is open
            return
        pool = self._process.pool_of(row.model)
        if pool is None:
            log.error(
                "failover_of_removed_model", generation_id=str(generation_id), model=row.model
            )
            pool = _pool_without_replicas(row.model)
        ttl_ms = self._settings.request_ttl_ms
        if not await leases.acquire(opened, epoch=_epoch_here(row), ttl_ms=ttl_ms):
            return
        entries = await leases.entries(generation_id)
        state = replay(((e.data, _META.decode(e.meta)) for e in entries), choices=opened.request.n)
        if row.is_open:
            await self._continue(opened, row, pool, entries, state)
        else:
            await self._finish_stream(opened, row, pool, entries, state)

    async def _continue(
        self,
        opened: OpenGeneration,
        row: Generation,
        pool: PoolConfig,
        entries: list[Entry],
        state: Replay,
    ) -> None:
        process = self._process
        principal = opened.request.principal
        policy = await in_database(
            policy_for,
            organization_id=principal.organization_id,
            model=pool.id,
            key_id=principal.key_id,
        )
        live = LiveGeneration(
            opened,
            epoch=row.epoch,
            lease=process.leases.value(row.epoch),
            pool=pool,
            policy=policy,
            grace_s=self._settings.grace_s,
            entries=entries,
            resumed=[choice.resumed() for choice in state.choices],
            on_abandoned=lambda live: abandonment_check(process, live),
        )
        live.input_tokens = state.input_tokens
        live.cached_input_tokens = state.cached_input_tokens
        live.served = any(choice.opened for choice in state.choices) and bool(row.pool)
        if await process.leases.is_cancelled(opened.id):
            live.request_stop("cancelled")
        request = opened.request
        ticket = self._ticket(request, pool)
        metrics.TAKEOVERS.labels(pool.id).inc()
        log.info(
            "generation_taken_up",
            generation_id=str(opened.id),
            request_id=request.request_id,
            epoch=row.epoch,
            events=len(entries),
        )
        generation_run(process, live, ticket)

    def _ticket(self, request: GenerationRequest, pool: PoolConfig) -> Ticket:
        """First in line at the pool; refused from the start where the model was removed."""
        queue = self._process.queues.get(pool.id)
        removed = queue is None
        if queue is None:
            queue = AdmissionQueue(ReplicaSet(pool), most_waiting=0)
        ticket = queue.readmit(
            priority=request.principal.plan.queue_priority,
            weight=request.n,
            affinity=str(request.conversation_id) if request.conversation_id else None,
        )
        if removed:
            ticket.refuse(
                ModelNotFound(f"The model {pool.id!r} was removed; its answer ends here.")
            )
        return ticket

    async def _finish_stream(
        self,
        opened: OpenGeneration,
        row: Generation,
        pool: PoolConfig,
        entries: list[Entry],
        state: Replay,
    ) -> None:
        """It has ended in PostgreSQL, but its process died before it could say so."""
        process = self._process
        lease = process.leases.value(_epoch_here(row))
        event_log = EventLog(opened.id, lease, entries)
        if not state.ended:
            for data in _last_events(opened, row, pool, state):
                event_log.append(data, _NO_META)
            process.writer.mark(event_log)
            async with asyncio.timeout(_BUFFER_WAIT_S):
                await event_log.wait_stored(event_log.last)
        facts = usage_facts(row)
        usage = Usage(row.input_tokens, row.cached_input_tokens, row.output_tokens)
        await settle_limits(process, opened, usage)
        await settle_budget(opened, facts)
        await process.leases.release(opened.id, lease, "ended")


def _epoch_here(row: Generation) -> int:
    """Under which the caller of `generation_claim` writes: one that has ended is not counted up
    in PostgreSQL, but its last events are written under an epoch of their own."""
    return row.epoch if row.is_open else row.epoch + 1


def _overdue_row(generation_id: UUID, by_s: float) -> Generation | None:
    before = timezone.now() - timedelta(seconds=by_s)
    return Generation.objects.filter(pk=generation_id, deadline_at__lt=before).first()


def _pool_without_replicas(model: str) -> PoolConfig:
    """In place of a pool that the pools file does not name any more: nothing can be generated,
    and what was delivered can be stored, billed and ended."""
    return PoolConfig(
        id=model,
        name=model,
        aliases=(),
        context_window=1,
        max_output_tokens=1,
        capabilities=(),
        upstream_model=model,
        max_concurrency=1,
        price_per_1k={},
        sampling={},
        dialect="openai",
        replicas=(),
    )


def _last_events(
    opened: OpenGeneration, row: Generation, pool: PoolConfig, state: Replay
) -> list[bytes]:
    """What Emitter.finish and Emitter.end would have written."""
    encoder = encoder_for(opened, pool)
    events: list[bytes] = []
    if row.state == GenerationState.FAILED:
        if state.error is None:
            events.append(
                encoder.error(error_of(code=row.error_code, message="The answer ended here."))
            )
        return [*events, DONE]
    for index, choice in enumerate(state.choices):
        if choice.finish_reason is None:
            events.append(encoder.finish(index, row.finish_reason))
    if opened.request.stream_usage:
        usage = Usage(row.input_tokens, row.cached_input_tokens, row.output_tokens)
        events.append(encoder.usage(usage))
    return [*events, DONE]
