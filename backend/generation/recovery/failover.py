"""Failover: continues generations whose process has died or handed them over.

Two processes may try at once. The claim in Redis saves work; what decides is the epoch, counted
up in PostgreSQL: only its newest holder can append to the events or end the generation.

One that meets an unexpected exception (events that this version cannot read, say) is left alone
for a while, so that another process may try, and others are looked at meanwhile. When its time is
over it is left to the reaper. One whose model was removed ends from its events, as far as it got.
"""

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db import DatabaseError
from django.utils import timezone
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.admission.queue import AdmissionQueue, Ticket
from backend.generation.admission.shared_queue import demand_of, describe
from backend.generation.finish.finalize import BUFFER_LOST
from backend.generation.finish.result import error_of
from backend.generation.finish.settle import Settlement
from backend.generation.models import Generation, GenerationState
from backend.generation.pools.config import PoolConfig, PoolsInForce
from backend.generation.pools.prefixes import prefix_of
from backend.generation.pools.replicas import ReplicaSet
from backend.generation.records import generation_claim, usage_facts
from backend.generation.recovery.disconnect import DisconnectCheck
from backend.generation.request import DONE, AdmittedGeneration, active_choices
from backend.generation.run.active import ActiveGeneration, ActiveGenerations, encoder_for
from backend.generation.run.replay import EventMeta, Replay, replay
from backend.generation.run.task import GenerationTasks
from backend.generation.settings import GatewaySettings
from backend.generation.stream.leases import Leases
from backend.generation.stream.log import Entry, EventLog
from backend.generation.stream.writer import BufferWriter
from backend.generation.usage import Usage
from backend.platform.database import in_database
from backend.platform.errors import ModelNotFound
from backend.platform.services_away import SERVICES_AWAY
from billing.tiers import BATCH
from safety.audit.selectors import policy_for
from safety.judge.policy import Policy

log = structlog.get_logger(__name__)

# So many are looked at in a round, and at once: of a web process that died with a thousand answers
# all shall be claimed within seconds, and each is mostly a wait for PostgreSQL and Redis.
_AT_A_TIME = 256
_AT_ONCE = 16
_NO_META = EventMeta().encoded()
_BUFFER_TIMEOUT_S = 10.0
# How long one that could not be failed over is left alone here.
_RETRY_LEASES = 5


@dataclass(frozen=True, slots=True)
class _Orphan:
    """A generation without a process, as PostgreSQL and its events tell of it."""

    admitted: AdmittedGeneration
    row: Generation
    pool: PoolConfig
    policy: Policy
    entries: list[Entry]
    state: Replay


class Failover:
    """Looks for lapsed leases."""

    def __init__(
        self,
        registry: ActiveGenerations,
        leases: Leases,
        writer: BufferWriter,
        queues: Mapping[str, AdmissionQueue],
        pools: PoolsInForce,
        settlement: Settlement,
        generation_tasks: GenerationTasks,
        disconnects: DisconnectCheck,
        settings: GatewaySettings,
    ) -> None:
        self._registry = registry
        self._leases = leases
        self._writer = writer
        self._queues = queues
        self._pools = pools
        self._settlement = settlement
        self._generation_tasks = generation_tasks
        self._disconnects = disconnects
        self._settings = settings
        self._retry_s = _RETRY_LEASES * settings.lease_s
        self._retry_at: dict[UUID, float] = {}

    async def run(self) -> None:
        """The loop's task; ends when the process drains."""
        while not self._registry.draining:
            await asyncio.sleep(self._settings.lease_s / 6)
            try:
                while await self.round():
                    pass
            except (RedisError, OSError, DatabaseError) as error:
                log.warning("failover_round_failed", error=str(error))

    async def round(self) -> bool:
        """Fail over what has no lease any more, so many at a time; whether there may be more."""
        # Those that are left alone come on top, or enough of them would hide all others.
        lapsed = await self._leases.lapsed(_AT_A_TIME + len(self._retry_at))
        self._retry_at = {one: at for one, at in self._retry_at.items() if one in lapsed}
        now = time.monotonic()
        taken_up = [
            one
            for one in lapsed
            if self._retry_at.get(one, 0.0) <= now and one not in self._registry
        ]
        # Other processes look at the same ones: each begins somewhere else.
        random.shuffle(taken_up)
        at_once = asyncio.Semaphore(_AT_ONCE)
        outcomes = await asyncio.gather(
            *(self._try(one, at_once) for one in taken_up), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return any(outcomes) and len(taken_up) >= _AT_A_TIME

    async def _try(self, generation_id: UUID, at_once: asyncio.Semaphore) -> bool:
        """Whether this process took it up."""
        try:
            async with at_once:
                return await self._fail_over(generation_id)
        except SERVICES_AWAY:
            raise
        except Exception:
            log.exception("failover_failed", generation_id=str(generation_id))
            metrics.RECOVERY_FAILURES.labels("failover").inc()
            self._retry_at[generation_id] = time.monotonic() + self._retry_s
            await self._leave_if_overdue(generation_id)
            return False

    async def _leave_if_overdue(self, generation_id: UUID) -> None:
        """Have Redis forget one whose time is long over: then the reaper settles it."""
        row = await in_database(_row_overdue_since, generation_id, self._retry_s)
        if row is not None:
            lease = self._leases.value(_epoch_here(row))
            await self._leases.release(generation_id, lease, "ended")
            await self._leases.forget(generation_id)

    async def _fail_over(self, generation_id: UUID) -> bool:
        if not await self._leases.claim(generation_id):
            return False
        admitted = await self._leases.stored(generation_id)
        row = await in_database(generation_claim, generation_id=generation_id)
        if admitted is None or row is None:
            await self._leases.forget(generation_id)  # the reaper settles what is open
            return True
        pool = self._pools.get(row.model)
        if pool is None:
            log.error(
                "failover_of_removed_model", generation_id=str(generation_id), model=row.model
            )
            pool = _pool_without_replicas(row.model)
        # All that PostgreSQL is asked for comes first: who fails after `acquire` has a lease, which
        # keeps everybody out until it lapses.
        policy = await _policy_of(admitted, pool)
        ttl_ms = self._settings.request_ttl_ms
        if not await self._leases.acquire(admitted, epoch=_epoch_here(row), ttl_ms=ttl_ms):
            return False
        entries = await self._leases.entries(generation_id)
        events = ((entry.data, EventMeta.decoded(entry.meta)) for entry in entries)
        state = replay(events, choices=admitted.request.n, groups=admitted.request.groups)
        orphan = _Orphan(admitted, row, pool, policy, entries, state)
        if row.is_open:
            await self._continue(orphan)
        else:
            await self._finish_stream(orphan)
        return True

    async def _continue(self, orphan: _Orphan) -> None:
        admitted, row, pool = orphan.admitted, orphan.row, orphan.pool
        active = ActiveGeneration(
            admitted,
            epoch=row.epoch,
            lease=self._leases.value(row.epoch),
            pool=pool,
            policy=orphan.policy,
            row=row,
            grace_s=self._settings.grace_s,
            on_disconnected=self._disconnects.begin,
            entries=orphan.entries,
            resumed=[
                choice.resumed(admitted.request.echo_of(index))
                for index, choice in enumerate(orphan.state.choices)
            ],
        )
        active.prompts = orphan.state.prompts
        # By its events: the row may not have been marked as running when its process died.
        delivered = orphan.state.usage
        active.served = bool(delivered.input_tokens or delivered.output_tokens)
        if await self._leases.is_cancelled(admitted.id):
            active.request_stop("cancelled")
        ticket = self._ticket(admitted, pool)
        metrics.FAILOVERS.labels(pool.id).inc()
        log.info(
            "generation_failed_over",
            generation_id=str(admitted.id),
            request_id=admitted.request.request_id,
            epoch=row.epoch,
            events=len(orphan.entries),
        )
        self._generation_tasks.start(active, ticket)

    def _ticket(self, admitted: AdmittedGeneration, pool: PoolConfig) -> Ticket:
        """First in line at the pool; refused from the start where the model was removed."""
        queue = self._queues.get(pool.id)
        removed = queue is None
        if queue is None:
            queue = AdmissionQueue(ReplicaSet(pool), max_waiting=0)
        ticket = queue.readmit(
            priority=admitted.request.principal.plan.queue_priority,
            weight=active_choices(admitted.request.n),
            affinity=prefix_of(admitted.request),
            is_batch=admitted.request.service_tier == BATCH,
        )
        describe(queue, ticket, demand_of(admitted, is_first=True))
        if removed:
            ticket.refuse(
                ModelNotFound(f"The model {pool.id!r} was removed; its answer ends here.")
            )
        return ticket

    async def _finish_stream(self, orphan: _Orphan) -> None:
        """It has ended in PostgreSQL, but its process died before it could say so."""
        admitted, row = orphan.admitted, orphan.row
        lease = self._leases.value(_epoch_here(row))
        if row.error_code == BUFFER_LOST:
            await self._replace_stream(orphan, lease)
            return
        event_log = EventLog(admitted.id, lease, orphan.entries)
        if not orphan.state.ended:
            for data in _last_events(orphan):
                event_log.append(data, _NO_META)
            self._writer.mark(event_log)
            async with asyncio.timeout(_BUFFER_TIMEOUT_S):
                await event_log.wait_stored(event_log.last)
        await self._settlement.limits(admitted, Usage.of(row))
        await self._settlement.budget(admitted, usage_facts(row))
        await self._leases.release(
            admitted.id, lease, "ended", outlives_delivery=admitted.request.outlives_delivery
        )

    async def _replace_stream(self, orphan: _Orphan, lease: str) -> None:
        """It ended with text withdrawn that Redis may hold (finish/finalize.py), and its process
        died before it could replace the stream by what is billed."""
        billed = [*_billed(orphan.entries, orphan.row.output_tokens)]
        state = replay(((e.data, EventMeta.decoded(e.meta)) for e in billed), choices=1)
        events = _last_events(replace(orphan, entries=billed, state=state))
        await self._settlement.limits(orphan.admitted, Usage.of(orphan.row))
        await self._settlement.budget(orphan.admitted, usage_facts(orphan.row))
        entries = [*billed, *(Entry(data, _NO_META) for data in events)]
        await self._leases.end_with(orphan.admitted.id, lease, entries)


async def _policy_of(admitted: AdmittedGeneration, pool: PoolConfig) -> Policy:
    principal = admitted.request.principal
    return await in_database(
        policy_for,
        organization_id=principal.organization_id,
        model=pool.id,
        key_id=principal.key_id,
    )


def _billed(entries: Iterable[Entry], output_tokens: int) -> Iterator[Entry]:
    """The first of `entries`, as far as their tokens are billed."""
    by_choice: dict[int, int] = {}
    for entry in entries:
        meta = EventMeta.decoded(entry.meta)
        by_choice[meta.choice] = max(meta.tokens, by_choice.get(meta.choice, 0))
        if entry.data == DONE or sum(by_choice.values()) > output_tokens:
            return
        yield entry


def _epoch_here(row: Generation) -> int:
    """Under which the caller of `generation_claim` writes: one that has ended is not counted up
    in PostgreSQL, but its last events are written under an epoch of their own."""
    return row.epoch if row.is_open else row.epoch + 1


def _row_overdue_since(generation_id: UUID, seconds: float) -> Generation | None:
    before: datetime = timezone.now() - timedelta(seconds=seconds)
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


def _last_events(orphan: _Orphan) -> list[bytes]:
    """What EventAppender.finish and EventAppender.end would have written."""
    row, state = orphan.row, orphan.state
    encoder = encoder_for(orphan.admitted, orphan.pool)
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
    if orphan.admitted.request.stream_usage:
        events.append(encoder.usage(Usage.of(row)))
    return [*events, DONE]
