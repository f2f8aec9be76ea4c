"""Admission: the list of steps between a request and its generation, each with how it is undone.

A place in the queue, what role and project allow, rate limits, budget, the prompt's text, the
check and the row, what may be reused, the lease. A step that is refused, or a client that leaves on
the way, undoes the steps before it in reverse.
Embeddings pass the first four: they have no prompt to check and no stream to hold.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import structlog
from django.db import DatabaseError
from msgspec.structs import replace
from redis.exceptions import RedisError

from backend.accounts.data_policy import ReuseRules
from backend.generation.admission.allowed import require_allowed
from backend.generation.admission.image_text import (
    NOTICE,
    NOTICE_HEADER,
    with_image_text,
    without_images,
)
from backend.generation.admission.images import images_score
from backend.generation.admission.ownership import FIRST_EPOCH, lease_take, unstarted_end
from backend.generation.admission.prompt_check import Fence, generation_check_and_create
from backend.generation.admission.prompt_text import with_prompt_text
from backend.generation.admission.queue import AdmissionQueue, Ticket
from backend.generation.admission.rate_limits import Limiter
from backend.generation.admission.shared_queue import demand_of, describe
from backend.generation.admission.shed import PendingRequest
from backend.generation.models import Generation
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.prefixes import Prefix
from backend.generation.request import AdmittedGeneration, active_choices
from backend.generation.reuse.finder import Asked, Finder
from backend.generation.reuse.keys import may_be_reused
from backend.generation.reuse.plan import ReusePlan
from backend.generation.stations import StationClock
from backend.generation.stream.leases import Leases
from backend.platform.cancellation import uninterrupted
from backend.platform.database import in_database
from backend.platform.errors import Overloaded
from billing.budgets import Reservation, reserve, settle
from billing.tiers import BATCH, priced_model
from safety.judge.policy import Policy

log = structlog.get_logger(__name__)

# Admissions that may be under way at once; others wait a moment. Most of an admission is a
# processor's work: more of them at once end no sooner, and hold up the loop, and with it every
# token and every refusal. They also leave connections to Redis and PostgreSQL to what runs.
_MAX_AT_ONCE = 8


@dataclass(slots=True, kw_only=True)
class Admission:
    """One request on its way, with what the steps have found and taken for it.

    Attributes:
        max_input_tokens, max_output_tokens, max_seconds, max_characters: the most that it can be
            billed.
        affinity: what its prompt begins with: it goes where that is cached, where it can.
        pending: how load shedding counts it; None where it was not counted.
        fence: whether it may still be started; None where nobody else may start it.
        ticket: its place, once it has one.
        ratelimit_headers: the `x-ratelimit-*` headers, and what else the caller is told.
        policy: what its output is held to, once its prompt has passed.
        row: as it was created.
        rules: which answers its organization reuses.
        reuse: whose answer it gets, or who may get its own; None: nobody's. One that begins with
            an answer (outage.py) needs no place.
        clock: when it came and passed.
        failed_over: this process stalled, and another one runs the generation by now.
    """

    admitted: AdmittedGeneration
    pool: PoolConfig
    max_input_tokens: int
    max_output_tokens: int
    max_seconds: int = 0
    max_characters: int = 0
    affinity: Prefix | None = None
    pending: PendingRequest | None = None
    fence: Fence | None = None
    ticket: Ticket | None = None
    ratelimit_headers: dict[str, str] = field(default_factory=dict)
    policy: Policy | None = None
    row: Generation | None = None
    rules: ReuseRules | None = None
    reuse: ReusePlan | None = None
    clock: StationClock = field(default_factory=lambda: StationClock(time.monotonic()))
    failed_over: bool = False
    taken: list["AdmissionStep"] = field(default_factory=list)


Do = Callable[[Admission], Coroutine[Any, Any, bool]]
Undo = Callable[[Admission], Coroutine[Any, Any, None]]


@dataclass(frozen=True, slots=True)
class AdmissionStep:
    """One step of admission.

    Attributes:
        do: raises ParleyError to refuse; returns whether there is something to undo.
        undo: gives back what `do` has taken.
        interruptible: it takes nothing, so a client that leaves cuts it short.
    """

    do: Do
    undo: Undo | None = None
    interruptible: bool = False


class AdmissionPipeline:
    """Admits requests in one web process."""

    def __init__(
        self,
        queues: Mapping[str, AdmissionQueue],
        limiter: Limiter,
        leases: Leases,
        client: UpstreamClient,
        finder: Finder,
        *,
        request_ttl_ms: int,
    ) -> None:
        self._queues = queues
        self._limiter = limiter
        self._leases = leases
        self._client = client
        self._finder = finder
        self._request_ttl_ms = request_ttl_ms
        self._slots = asyncio.Semaphore(_MAX_AT_ONCE)
        # It never waits, so nothing can come between the place and its undo.
        self._first = AdmissionStep(self._take_place, self._release_place, interruptible=True)
        accounted = (
            AdmissionStep(self._require_allowed, interruptible=True),
            AdmissionStep(self._charge_limits, self._refund_limits),
            AdmissionStep(self._reserve_budget, self._free_budget),
        )
        self.for_embeddings = accounted
        self.for_generations = (
            *accounted,
            AdmissionStep(self._read_prompt, interruptible=True),
            AdmissionStep(self._score_images, interruptible=True),
            AdmissionStep(self._read_images, interruptible=True),
            AdmissionStep(self._check_and_create, self._end_unstarted),
            AdmissionStep(self._find_reuse, self._leave_reuse),
            AdmissionStep(self._take_lease, self._release_lease),
        )
        self.without_engines = (
            *accounted,
            AdmissionStep(self._score_images, interruptible=True),
            AdmissionStep(self._check_and_create, self._end_unstarted),
            AdmissionStep(self._take_lease, self._release_lease),
        )

    async def admit(self, admission: Admission, steps: tuple[AdmissionStep, ...]) -> None:
        """Pass `admission` through a place in the queue, then `steps`.

        Raises:
            ParleyError: it was refused; what was taken for it is given back.
        """
        try:
            if admission.reuse is None:
                await self._pass((self._first,), admission)
            await self._take_slot(admission.ticket)
            try:
                for interruptible, group in groupby(steps, key=_is_interruptible):
                    passing = partial(self._pass, tuple(group), admission)
                    await (passing() if interruptible else uninterrupted(passing))
            finally:
                self._slots.release()
        except (RedisError, OSError) as error:
            await self.undo(admission)
            log.error("admission_without_redis", error=str(error))
            raise Overloaded("The server cannot take requests now.", retry_after=5) from error
        except BaseException:
            await self.undo(admission)
            raise

    async def _take_slot(self, ticket: Ticket | None) -> None:
        """Wait until its admission may begin.

        Raises:
            Overloaded: no replica takes work any more.
        """
        if ticket is None or not self._slots.locked():
            await self._slots.acquire()
            return
        taking = asyncio.ensure_future(self._slots.acquire())
        try:
            either: set[asyncio.Future[Any]] = {taking, ticket.outcome}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            ticket.raise_if_refused()
        except BaseException:
            if not taking.cancel():  # it has the slot already
                self._slots.release()
            raise

    async def undo(self, admission: Admission) -> None:
        """Give back what the steps have taken, in reverse. Nothing is left to undo then."""
        while admission.taken:
            step = admission.taken.pop()
            assert step.undo is not None
            await uninterrupted(step.undo, admission)

    async def _pass(self, steps: tuple[AdmissionStep, ...], admission: Admission) -> None:
        """A client may leave at any moment, so steps that take something run to their end, and
        their undo is noted, before the cancellation is heard."""
        for step in steps:
            if admission.ticket is not None:
                # Nothing more is done for a request that no replica would take.
                admission.ticket.raise_if_refused()
            if await step.do(admission) and step.undo is not None:
                admission.taken.append(step)

    async def _take_place(self, admission: Admission) -> bool:
        principal = admission.admitted.request.principal
        priority = principal.plan.queue_priority
        try:
            queue = self._queues[admission.pool.id]
            admission.ticket = queue.reserve(
                priority=priority,
                organization=principal.organization_id,
                weight=active_choices(admission.admitted.request.n),
                affinity=admission.affinity,
                is_batch=admission.admitted.request.service_tier == BATCH,
            )
            describe(queue, admission.ticket, demand_of(admission.admitted))
        finally:
            if admission.pending is not None:
                admission.pending.over(priority, principal.organization_id)
        return True

    async def _release_place(self, admission: Admission) -> None:
        assert admission.ticket is not None
        admission.ticket.release()

    async def _require_allowed(self, admission: Admission) -> bool:
        require_allowed(admission.admitted.request.principal, admission.pool.id)
        return False

    async def _charge_limits(self, admission: Admission) -> bool:
        admitted = admission.admitted
        if admitted.request.service_tier == BATCH:
            return False  # bounded by the plan's quotas of batches
        charged = await self._limiter.admit(
            admitted.request.principal,
            admitted.id,
            model=admitted.pool,
            tokens=admitted.token_estimate,
        )
        admission.ratelimit_headers = charged.headers
        return charged.is_new  # else it belongs to another start of the same id

    async def _refund_limits(self, admission: Admission) -> None:
        admitted = admission.admitted
        await _logged(
            self._limiter.settle(
                admitted.request.principal,
                admitted.id,
                model=admitted.pool,
                estimated=admitted.token_estimate,
                used=0,
            )
        )

    async def _reserve_budget(self, admission: Admission) -> bool:
        found = await reserve(
            principal=admission.admitted.request.principal,
            generation_id=admission.admitted.id,
            model=priced_model(admission.pool.id, admission.admitted.request.service_tier),
            input_tokens=admission.max_input_tokens,
            max_output_tokens=admission.max_output_tokens,
            audio_seconds=admission.max_seconds,
            characters=admission.max_characters,
        )
        if found is Reservation.NONE:
            admission.admitted = replace(admission.admitted, may_hold_reservation=False)
        return found is Reservation.NEW

    async def _free_budget(self, admission: Admission) -> None:
        await _logged(settle(generation_id=admission.admitted.id, facts=None))

    async def _read_prompt(self, admission: Admission) -> bool:
        replicas = self._queues[admission.pool.id].replicas
        request = await with_prompt_text(self._client, replicas, admission.admitted.request)
        admission.admitted = replace(admission.admitted, request=request)
        return False

    async def _score_images(self, admission: Admission) -> bool:
        began = time.monotonic()
        await images_score(admission.admitted.request)
        admission.clock.pre_check_s += time.monotonic() - began
        return False

    async def _read_images(self, admission: Admission) -> bool:
        request = admission.admitted.request
        read = await with_image_text(request, admission.pool)
        if read is not request:
            headers = {**admission.ratelimit_headers, NOTICE_HEADER: NOTICE}
            admission.ratelimit_headers = headers
            admission.admitted = replace(admission.admitted, request=read)
        return False

    async def _check_and_create(self, admission: Admission) -> bool:
        checked = await in_database(
            generation_check_and_create,
            admission.admitted,
            model=admission.pool.id,
            fence=admission.fence,
        )
        admission.policy, admission.row = checked.policy, checked.row
        admission.rules = checked.rules
        admission.clock.pre_check_at = checked.checked_at
        admission.clock.pre_check_s += checked.check_s
        request = without_images(checked.request, admission.pool)
        admission.admitted = replace(admission.admitted, request=request)
        return True

    async def _find_reuse(self, admission: Admission) -> bool:
        """One that gets another one's answer needs no place at a replica."""
        assert admission.rules is not None and admission.policy is not None
        assert admission.ticket is not None
        if not may_be_reused(admission.admitted.request, admission.pool, admission.rules):
            return False
        asked = Asked(
            admission.admitted,
            admission.pool,
            admission.policy,
            admission.rules,
            self._queues[admission.pool.id].replicas.revision,
        )
        plan = admission.reuse = await self._finder.find(asked)
        if plan is not None and not plan.computes:
            admission.ticket.release()
        return plan is not None

    async def _leave_reuse(self, admission: Admission) -> None:
        assert admission.reuse is not None
        await self._finder.leave(admission.reuse, admission.admitted.id)

    async def _end_unstarted(self, admission: Admission) -> None:
        await unstarted_end(admission.admitted, admission.row)

    async def _take_lease(self, admission: Admission) -> bool:
        standing = await lease_take(self._leases, admission.admitted, ttl_ms=self._request_ttl_ms)
        if standing == "lost":
            raise Overloaded("The server stalled before this could begin. Try again.")
        if standing == "elsewhere":
            admission.failed_over = True
            if admission.ticket is not None:
                admission.ticket.release()
            if admission.reuse is not None:
                await self._finder.leave(admission.reuse, admission.admitted.id)
        return standing == "ours"

    async def _release_lease(self, admission: Admission) -> None:
        lease = self._leases.value(FIRST_EPOCH)
        await _logged(self._leases.release(admission.admitted.id, lease, "ended"))


def _is_interruptible(step: AdmissionStep) -> bool:
    return step.interruptible


async def _logged(giving_back: Awaitable[object]) -> None:
    """What cannot be given back lapses by itself; the refusal must not fail on it."""
    try:
        await giving_back
    except (RedisError, OSError, DatabaseError) as error:
        log.warning("admission_not_undone", error=str(error))
