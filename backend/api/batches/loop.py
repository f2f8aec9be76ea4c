"""Runs batches in a web process: in places at replicas that nobody else waits for.

Lines are begun for every place of the pool and, so that no place stands empty between two of them,
some more: these are admitted and wait for a place that is left over (`BatchPlaces`). No other
request waits for a place of theirs, and engines serve it first (`PRIORITY`).
"""

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from backend.accounts.authentication import principal_for_key_id
from backend.accounts.principal import Principal
from backend.api.batches import lines, rows
from backend.api.batches.answers import line_run
from backend.api.batches.finish import batch_finish
from backend.api.batches.turns import OpenBatch, Owner, Turns, open_batches, owner_of
from backend.api.batches.validate import batch_validate
from backend.api.errors import as_parley_error
from backend.api.models import Batch, BatchLine, BatchState
from backend.generation.admission.queue import BATCH_WAITED
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.platform.database import in_database
from backend.platform.errors import (
    AuthenticationFailed,
    InsufficientQuota,
    ModelNotFound,
    Overloaded,
    ParleyError,
)

log = structlog.get_logger(__name__)

AHEAD = 0.5
"""Lines that are admitted before there is a place for them, as a part of the pool's places."""
MAX_ATTEMPTS = 5
_BUSY_S, _IDLE_S = 0.2, 1.0
_MODERATIONS_AT_ONCE = 2
_WAIT = timedelta(seconds=5)
_PRINCIPAL_TTL_S = 10.0


@dataclass(slots=True)
class _Running:
    """What this process is at, by the primary key of its row."""

    tasks: dict[int | UUID, asyncio.Task[None]] = field(default_factory=dict)
    by_model: Counter[str] = field(default_factory=Counter)
    by_batch: Counter[UUID] = field(default_factory=Counter)
    by_owner: Counter[Owner] = field(default_factory=Counter)


class BatchLoop:
    """One in each web process."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._lines = _Running()
        self._batches = _Running()
        self._turns = Turns()
        self._principals: dict[UUID, tuple[float, Principal]] = {}
        self._renewed = time.monotonic()

    async def run(self) -> None:
        """Until the process drains. What it was at is then another's at once."""
        try:
            while not self._gateway.active.draining:
                begun = await self._round()
                await asyncio.sleep(_BUSY_S if begun or self._lines.tasks else _IDLE_S)
        finally:
            await self._leave()

    async def _round(self) -> bool:
        """Look once at what is to be done; whether something was begun."""
        if time.monotonic() - self._renewed > self._gateway.settings.lease_s:
            self._renewed = time.monotonic()
            await in_database(_renew, list(self._lines.tasks), list(self._batches.tasks))
            await in_database(rows.batches_count, list(self._lines.by_batch))
        begun = False
        of_models: defaultdict[str, list[Batch]] = defaultdict(list)
        for batch in await in_database(open_batches):
            if await self._tend(batch):
                begun = True
            elif batch.has_open_lines and batch.row.pk not in self._batches.tasks:
                of_models[batch.row.model].append(batch.row)
        for batches in of_models.values():
            begun |= await self._begin_lines(batches)
        return begun

    async def _tend(self, batch: OpenBatch) -> bool:
        """Do what is due of a batch beside its lines; whether that was all of this round."""
        row = batch.row
        if row.pk in self._batches.tasks:
            return False
        if not row.outcome and row.expires_at <= timezone.now():
            await in_database(rows.batch_expire, row.pk)
            return True
        if row.state == BatchState.VALIDATING and not row.outcome:
            return await self._take(row, batch_validate)
        if row.outcome:
            await in_database(lines.lines_close, row)  # those that were read since
        if not batch.has_open_lines and not self._lines.by_batch[row.pk]:
            return await self._take(row, batch_finish)
        return False

    async def _begin_lines(self, batches: list[Batch]) -> bool:
        """Begin lines of one model's batches, as many as it has room for, in equal parts; what one
        organization has no lines for goes to the others."""
        owners = self._turns.order(batches, self._lines.by_owner)
        left = self._room(batches[0])
        begun = 0
        for turn in range(2 * len(owners)):
            if left <= 0:
                break
            waiting = max(1, len(owners) - turn)
            claimed = await self._claim_lines(owners[turn % len(owners)], ceil(left / waiting))
            left, begun = left - claimed, begun + claimed
        return begun > 0

    async def _claim_lines(self, batches: list[Batch], limit: int) -> int:
        """Begin so many lines of one organization's batches, oldest first; how many it had."""
        begun = 0
        for batch in batches:
            if begun == limit:
                break
            for line in await in_database(lines.lines_claim, batch, limit=limit - begun):
                self._begin(self._lines, line.pk, batch, self._answer(batch, line))
                begun += 1
        if begun:
            self._turns.served(batches[0])
        return begun

    def _room(self, batch: Batch) -> int:
        """How many lines more may be begun here now."""
        if batch.endpoint == "/v1/moderations":
            return _MODERATIONS_AT_ONCE - self._lines.by_model[batch.model]
        try:
            queue = self._gateway.queues[self._gateway.pools.find(batch.model).id]
        except (ModelNotFound, KeyError):
            return 1  # each line is answered with that
        replicas = queue.replicas
        healthy = sum(replica.healthy for replica in replicas.replicas)
        places = replicas.places * healthy
        if queue.draining or queue.keeps_batches_waiting:
            return 0
        if not places:  # the replica is started for one line
            return int(replicas.pool.on_demand) - self._lines.by_model[batch.model]
        ahead = max(2, int(places * AHEAD))
        room = places + ahead - self._lines.by_model[batch.model]
        # A few at a time: each claim is a transaction.
        return room if room >= ahead // 2 else 0

    async def _take(self, batch: Batch, work: Callable[[UUID], None]) -> bool:
        """Do `work` on the batch, if no other process has it."""
        if not await in_database(_claim, batch.pk):
            return False

        async def do() -> None:
            try:
                await in_database(work, batch.pk)
            finally:
                await in_database(_free, batch.pk)

        self._begin(self._batches, batch.pk, batch, do())
        return True

    def _begin(self, running: _Running, key: Any, batch: Batch, work: Any) -> None:
        model, batch_pk, owner = batch.model, batch.pk, owner_of(batch)
        running.by_model[model] += 1
        running.by_owner[owner] += 1
        running.by_batch[batch_pk] += 1

        async def do() -> None:
            try:
                await work
            except Exception as error:
                log.error("batch_work_failed", key=str(key), exc_info=error)
            finally:
                running.by_model[model] -= 1
                running.by_owner[owner] -= 1
                if not running.by_owner[owner]:
                    del running.by_owner[owner]
                running.by_batch[batch_pk] -= 1
                if not running.by_batch[batch_pk]:
                    del running.by_batch[batch_pk]
                running.tasks.pop(key, None)

        running.tasks[key] = asyncio.create_task(do())

    async def _answer(self, batch: Batch, line: BatchLine) -> None:
        with structlog.contextvars.bound_contextvars(
            request_id=lines.request_id_of(line), batch_id=str(batch.pk)
        ):
            try:
                await line_run(self._gateway, batch, line, await self._principal(batch))
            except Exception as error:
                await in_database(_not_answered, line, as_parley_error(error))

    async def _principal(self, batch: Batch) -> Principal:
        """Raises AuthenticationFailed: the key, its user or the membership was ended."""
        key_id = batch.api_key_id
        if key_id is None:
            raise AuthenticationFailed("The API key that made this batch was deleted.")
        found = self._principals.get(key_id)
        if found is None or time.monotonic() - found[0] > _PRINCIPAL_TTL_S:
            found = time.monotonic(), await in_database(principal_for_key_id, key_id)
            self._principals[key_id] = found
        return found[1]

    async def _leave(self) -> None:
        tasks = [*self._lines.tasks.values(), *self._batches.tasks.values()]
        left = list(self._lines.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await in_database(_leave_lines, left)


def batch_loops(gateway: Gateway) -> dict[str, Any]:
    """For the lifespan of a web process."""
    return {"batches": BatchLoop(gateway).run}


def _claim(batch_pk: UUID) -> bool:
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lte=now)
    claimed = Batch.objects.filter(free, pk=batch_pk).update(claimed_until=now + lines.lease())
    return bool(claimed)


def _free(batch_pk: UUID) -> None:
    Batch.objects.filter(pk=batch_pk).update(claimed_until=None)


def _renew(line_pks: list[Any], batch_pks: list[Any]) -> None:
    if line_pks:
        lines.lines_renew(line_pks)
    if batch_pks:
        Batch.objects.filter(pk__in=batch_pks).exclude(claimed_until=None).update(
            claimed_until=timezone.now() + lines.lease()
        )


def _leave_lines(pks: list[Any]) -> None:
    BatchLine.objects.filter(pk__in=pks, is_done=False).update(claimed_until=timezone.now())


def _not_answered(line: BatchLine, error: ParleyError) -> None:
    """Try a line again where that may help and it was not billed; else its error is its answer."""
    if isinstance(error, AuthenticationFailed):
        rows.batch_access_ended(line.batch_id, error)
    with transaction.atomic():
        if lines.line_hold(line):
            _close_or_retry(line, error)


def _close_or_retry(line: BatchLine, error: ParleyError) -> None:
    """The same of a line that the caller has locked: its generation is not begun meanwhile."""
    batch = Batch.objects.get(pk=line.batch_id)
    generation = Generation.objects.filter(pk=lines.generation_id_of(line)).first()
    has_waited = error.code == BATCH_WAITED  # for others, and not billed
    billed = generation is not None and generation.input_tokens + generation.output_tokens > 0
    may_help = error.status in {408, 409, 429} or error.status >= 500
    may_help = may_help and not isinstance(error, InsufficientQuota)
    is_last = line.attempt >= MAX_ATTEMPTS and not has_waited
    if not may_help or billed or batch.outcome or is_last:
        lines.line_answer(line, status=error.status, body=error.as_dict())
        return
    is_begun = generation is not None and generation.is_open
    is_full = generation is None and isinstance(error, Overloaded)
    attempt = line.attempt if is_begun or is_full else line.attempt + 1
    lines.line_again(line, at=timezone.now() + _WAIT, attempt=attempt)
