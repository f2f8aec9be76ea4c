"""Finds what a request may be answered by, and keeps what later ones may.

Nothing here is needed: where Redis or PostgreSQL does not answer, a request is
computed as if nothing were reused.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol
from uuid import UUID

import structlog
from django.db import DatabaseError
from psycopg_pool import PoolTimeout
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.accounts.data_policy import ReuseRules
from backend.accounts.models import AnswerCache
from backend.generation import metrics
from backend.generation.models import Generation
from backend.generation.pools.config import PoolConfig
from backend.generation.request import AdmittedGeneration, Event, GenerationRequest
from backend.generation.reuse.answers import answer_get, answer_store
from backend.generation.reuse.flights import Flights
from backend.generation.reuse.keys import (
    digest_of,
    flight_name,
    may_be_shared,
)
from backend.generation.reuse.plan import ReusableAnswer, ReusePlan, Source
from backend.platform.database import in_database
from safety.judge.policy import Policy

log = structlog.get_logger(__name__)

_AWAY = (RedisError, OSError, DatabaseError, PoolTimeout)
# A flight's key outlives what it names by this, should nobody take it away.
_AFTER_DEADLINE_S = 5.0
MAX_LEADERS = 3
"""So many leaders that end early are followed by others; then each goes on alone."""


class Leader(Protocol):
    """A generation of this process."""

    @property
    def request(self) -> GenerationRequest: ...


class Here(Protocol):
    """The generations of this process."""

    draining: bool

    def get(self, generation_id: UUID, /) -> Leader | None: ...


class Events(Protocol):
    """Reads the events of a generation, wherever it runs: stream/reader.py."""

    def events(
        self, generation_id: UUID, *, after: int, holds: bool = True
    ) -> AsyncGenerator[list[Event], None]: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A request whose prompt has passed its check.

    Attributes:
        revision: of the model, as its replicas announce it.
    """

    admitted: AdmittedGeneration
    pool: PoolConfig
    policy: Policy
    rules: ReuseRules
    revision: str


class Finder:
    """Of one web process."""

    def __init__(self, redis: Redis, here: Here, reader: Events) -> None:
        self._flights = Flights(redis)
        self._here = here
        self._reader = reader

    async def find(self, asked: Asked) -> ReusePlan | None:
        """How a request that may be reused is to be answered; None: like any other."""
        request, pool, rules = asked.admitted.request, asked.pool, asked.rules
        digest = digest_of(request, pool, asked.policy)
        if digest is None:
            return None
        plan = ReusePlan(
            organization_id=request.principal.organization_id,
            digest=digest,
            revision=asked.revision,
            rules=rules,
            shares=may_be_shared(request, pool, rules),
        )
        try:
            if rules.cache is not AnswerCache.OFF:
                await self._look_up(plan, asked)
            if plan.answer is None and plan.shares:
                await self._join(plan, asked.admitted)
        except _AWAY as error:
            log.warning("reuse_without_services", error=str(error))
        if plan.leader is not None:
            plan.source = Source.SHARED
        if plan.source is not None:
            metrics.REUSE.labels(pool.id, plan.source).inc()
        return plan if plan.shares or plan.stores or plan.answer is not None else None

    async def join_again(self, plan: ReusePlan, admitted: AdmittedGeneration) -> None:
        """Its leader has ended early: follow another one, or lead."""
        left, plan.leader = plan.leader, None
        try:
            await self._join(plan, admitted, left=left)
        except _AWAY as error:
            log.warning("reuse_without_services", error=str(error))

    async def leave(self, plan: ReusePlan, generation_id: UUID) -> None:
        """It leads no more, if it did."""
        if plan.shares:
            try:
                await self._flights.leave(_flight(plan), generation_id)
            except (RedisError, OSError) as error:
                log.warning("flight_not_left", error=str(error))

    def events(self, leader: UUID) -> AsyncGenerator[list[Event], None]:
        """What the leader's readers are sent; it is cancelled for want of others although this one
        reads. Ends without `[DONE]` only when this process is going. Raises NotFound."""
        return self._reader.events(leader, after=0, holds=False)

    @property
    def is_draining(self) -> bool:
        return self._here.draining

    async def keep(
        self, plan: ReusePlan, admitted: AdmittedGeneration, answer: ReusableAnswer
    ) -> None:
        """Store what it computed, for as long as its organization, its project and its caller
        allow."""
        request = admitted.request
        lifetime = timedelta(seconds=plan.rules.lifetime_s)
        if request.retention_days is not None:
            lifetime = min(lifetime, timedelta(days=request.retention_days))
        try:
            await in_database(
                answer_store,
                principal=request.principal,
                generation_id=admitted.id,
                model=admitted.pool,
                digest=plan.digest,
                revision=plan.revision,
                answer=answer,
                lifetime=lifetime,
            )
        except (DatabaseError, PoolTimeout) as error:
            log.warning("answer_not_kept", error=str(error))

    async def _look_up(self, plan: ReusePlan, asked: Asked) -> None:
        request = asked.admitted.request
        plan.stores = request.outlives_delivery
        plan.source = Source.MISS
        may_answer = request.reuse == "allowed"
        organization_id = plan.organization_id
        if may_answer:
            plan.answer = await in_database(
                answer_get,
                organization_id=organization_id,
                digest=plan.digest,
                revision=plan.revision,
            )
        if plan.answer is not None:
            plan.source = Source.EXACT
        plan.shares = plan.shares and plan.answer is None

    async def _join(
        self, plan: ReusePlan, admitted: AdmittedGeneration, *, left: UUID | None = None
    ) -> None:
        """Follow the generation that runs, where it still does; else lead."""
        name = _flight(plan)
        ttl_ms = int((admitted.deadline_at - admitted.created_at).total_seconds() * 1000)
        ttl_ms += int(_AFTER_DEADLINE_S * 1000)
        for _ in range(MAX_LEADERS):
            leader = await self._flights.join(name, admitted.id, ttl_ms=ttl_ms, left=left)
            if leader == admitted.id:
                return
            if await self._runs(leader, plan.organization_id):
                plan.leader = leader
                return
            left = leader

    async def _runs(self, leader: UUID, organization_id: UUID) -> bool:
        """Whether it has not ended, and is this organization's: the key in Redis proves neither."""
        here = self._here.get(leader)
        if here is not None:
            return here.request.principal.organization_id == organization_id
        return await in_database(_is_open, leader, organization_id)


def _flight(plan: ReusePlan) -> str:
    return flight_name(plan.organization_id, plan.digest, plan.revision)


def _is_open(generation_id: UUID, organization_id: UUID) -> bool:
    """Whether a generation of this organization has not ended."""
    row = Generation.objects.filter(pk=generation_id, organization_id=organization_id).first()
    return row is not None and row.is_open
