"""Settles generations whose process and buffer are both gone.

Redis knows every open generation that a process runs, or could take up. One that it does not
know in two rounds has lost both (a Redis that lost its memory is given some leases to be told
everything again): what readers saw of it is not known. It ends as `failed`,
without text. What is billed is the engine's own final count; where no engine knows of it either,
nothing: the doubt is ours (decision 0073).

Its process may be alive and only have stalled before it took the lease. So the reaper claims the
generation first, as failover does, and looks for a lease once more: a process that comes back
either shows its lease by then or finds, after taking it, that the generation is not its own.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import UUID

import structlog
from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone
from redis.exceptions import RedisError

from backend.generation import metrics
from backend.generation.finish.reconcile_usage import reconciled_usage
from backend.generation.models import LOST, OPEN_STATES, Generation, GenerationState
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolsInForce
from backend.generation.records import (
    FinalState,
    Finished,
    Superseded,
    generation_claim,
    generation_finish,
)
from backend.generation.run.active import ActiveGenerations
from backend.generation.settings import GatewaySettings
from backend.generation.stream.leases import Leases
from backend.generation.usage import Usage
from backend.platform.database import in_database
from backend.platform.services_away import SERVICES_AWAY
from billing.budgets import settle

log = structlog.get_logger(__name__)

_AT_A_TIME = 500
# So many leases after Redis lost its memory nothing is taken for lost: whoever lives restores its
# leases within a third of one.
_MEMORY_LEASES = 3


class Reaper:
    """Looks for open generations that Redis does not know."""

    def __init__(
        self,
        registry: ActiveGenerations,
        leases: Leases,
        client: UpstreamClient,
        pools: PoolsInForce,
        settings: GatewaySettings,
    ) -> None:
        self._registry = registry
        self._leases = leases
        self._client = client
        self._pools = pools
        self._settings = settings
        self._unknown: set[UUID] = set()

    async def run(self) -> None:
        """The reaper's task; ends when the process drains."""
        while not self._registry.draining:
            await asyncio.sleep(self._settings.lease_s / 2)
            try:
                await self.round()
            except (RedisError, OSError, DatabaseError) as error:
                log.warning("reaper_round_failed", error=str(error))

    async def round(self) -> int:
        """One look; how many generations were settled.

        Two rounds lie half a lease apart. A process that lives restores the leases that Redis lost
        within a third of one.
        """
        if await self._leases.memory_age_s() < _MEMORY_LEASES * self._settings.lease_s:
            self._unknown.clear()
            return 0
        unknown = {row.id: row async for row in self._unknown_rows()}
        lost = [row for row in unknown.values() if row.id in self._unknown]
        self._unknown = set(unknown)
        settled = 0
        for row in lost:
            settled += await self._try(row)
        return settled

    async def _unknown_rows(self) -> AsyncIterator[Generation]:
        """All open generations of some age that nobody holds, the oldest first."""
        rows: list[Generation] = []
        while not rows or len(rows) == _AT_A_TIME:
            last = rows[-1] if rows else None
            rows = await in_database(_old_open_generations, self._settings.reap_after_s, last)
            if not rows:
                return
            known = await self._leases.in_hand([row.id for row in rows])
            for row, is_known in zip(rows, known, strict=True):
                if not is_known and row.id not in self._registry:
                    yield row

    async def _try(self, row: Generation) -> bool:
        try:
            return await self._settle(row)
        except SERVICES_AWAY:
            raise
        except Exception:
            log.exception("generation_not_reaped", generation_id=str(row.id))
            metrics.RECOVERY_FAILURES.labels("reaper").inc()
            return False

    async def _settle(self, row: Generation) -> bool:
        pool = self._pools.get(row.model)
        counted = await reconciled_usage(self._client, pool, row.id) if pool else None
        claimed = await in_database(generation_claim, generation_id=row.id)
        if claimed is None or not claimed.is_open:
            return False
        [in_hand] = await self._leases.in_hand([row.id])
        if in_hand:
            return False  # its process is back; it hands over, or failover takes it from there
        try:
            finished = await in_database(_finish_lost, claimed, counted)
        except (Superseded, Generation.DoesNotExist):
            return False
        if finished.by_us:
            metrics.REAPED.inc()
            log.error(
                "generation_reaped",
                generation_id=str(row.id),
                request_id=row.request_id,
                counted_by_engine=counted is not None,
            )
            await settle(generation_id=row.id, facts=finished.facts)
        return finished.by_us


def _old_open_generations(age_s: float, last: Generation | None) -> list[Generation]:
    """The oldest that follow `last`."""
    before = timezone.now() - timedelta(seconds=age_s)
    rows = Generation.objects.filter(state__in=OPEN_STATES, created_at__lt=before)
    if last is not None:
        later = Q(created_at=last.created_at, pk__gt=last.pk) | Q(created_at__gt=last.created_at)
        rows = rows.filter(later, created_at__gte=last.created_at)
    known = rows.only("created_at", "model", "request_id").order_by("created_at", "pk")
    return list(known[:_AT_A_TIME])


def _finish_lost(row: Generation, counted: Usage | None) -> Finished:
    return generation_finish(
        generation_id=row.id,
        row=row,
        epoch=row.epoch,
        final=FinalState(
            state=GenerationState.FAILED,
            finish_reason="error",
            text="",
            usage=counted or Usage(),
            # An engine that counted has seen the prompt, noted here or not.
            pool=row.model if counted else row.pool,
            replica=row.replica,
            error_code=LOST,
        ),
    )
