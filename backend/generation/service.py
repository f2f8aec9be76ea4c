"""What `api` calls: start a generation, read it, wait for it, cancel it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import msgspec
import structlog
from django.db import DatabaseError
from redis.exceptions import RedisError

from backend.accounts.principal import Principal
from backend.generation import metrics
from backend.generation.admission.estimate import (
    input_bound,
    input_estimate,
    output_estimate,
    output_limit,
)
from backend.generation.admission.opening import Opened, generation_open
from backend.generation.admission.prompt_check import with_prompt_text
from backend.generation.admission.shed import arrival_over
from backend.generation.finish.finalize import settle_budget, settle_limits
from backend.generation.finish.result import completion_of
from backend.generation.gateway import Gateway, current
from backend.generation.models import GenerationState
from backend.generation.pools.config import PoolConfig
from backend.generation.process import Process
from backend.generation.records import Ending, generation_finish
from backend.generation.recovery.disconnect import abandonment_check
from backend.generation.request import (
    Completion,
    Event,
    GenerationRequest,
    StartedGeneration,
    Usage,
)
from backend.generation.run.active import LiveGeneration, public_id
from backend.generation.run.task import generation_run
from backend.generation.selectors import generation_get
from backend.generation.stream.leases import OpenGeneration
from backend.generation.stream.reader import read_events
from backend.generation.stream.replay import EventMeta, replay
from backend.platform.cancellation import uninterrupted
from backend.platform.database import in_database
from backend.platform.errors import Overloaded, ParleyError
from billing.budgets import reserve

log = structlog.get_logger(__name__)


async def generation_start(request: GenerationRequest) -> StartedGeneration:
    """Admit a generation and let it run in a task of its own.

    With `metadata` (the page) it returns as soon as the generation is queued. Without, when a
    replica has accepted it: a refusal then still has an HTTP status of its own.

    Raises:
        ParleyError: it was refused, or failed before there was anything to read. Nothing runs,
            and what was reserved is given back.
    """
    gateway = current()
    pool = gateway.process.pools.find(request.model)
    try:
        live, headers = await _admit(gateway, pool, request)
    except ParleyError as error:
        metrics.REFUSED.labels(pool.id, request.principal.plan.slug, error.code or "").inc()
        raise
    if request.metadata is None:
        await _wait_begun(live)
    created = int(live.opened.created_at.timestamp())
    return StartedGeneration(live.opened.id, created, pool.id, headers)


async def generation_check(generation_id: UUID, *, principal: Principal) -> None:
    """Raises NotFound unless the generation exists and is the caller's."""
    live = current().process.live.get(generation_id)
    if live is not None and _may_read(live, principal):
        return
    await in_database(generation_get, generation_id=generation_id, principal=principal)


async def generation_events(
    generation_id: UUID, *, principal: Principal, after: int = 0
) -> AsyncIterator[Event]:
    """The events after `after`, then those to come, from any process; `[DONE]` last.

    Whoever reads holds the generation: closing this is leaving, see
    `GenerationRequest.on_disconnect`.

    Raises:
        NotFound: it is not the caller's, or its events are not kept any more.
    """
    await generation_check(generation_id, principal=principal)
    batches = read_events(current().process, generation_id, after=after)
    async with aclosing(batches):
        async for batch in batches:
            for event in batch:
                yield event


async def generation_result(generation_id: UUID, *, principal: Principal) -> Completion:
    """Wait for the end, and give the whole answer.

    Raises:
        ParleyError: it failed before there was any text. With text, the answer has `error`.
        NotFound: as for `generation_events`.
    """
    process = current().process
    await generation_check(generation_id, principal=principal)
    events: list[bytes] = []
    async with aclosing(read_events(process, generation_id, after=0)) as batches:
        async for batch in batches:
            events += [event.data for event in batch]
    row = await in_database(generation_get, generation_id=generation_id, principal=principal)
    state = replay(((data, EventMeta()) for data in events), choices=1)
    return completion_of(row, state, public_id=public_id(row.id, row.endpoint))


async def generation_cancel(generation_id: UUID, *, principal: Principal) -> None:
    """Stop it, wherever it runs; its text so far is kept and billed. Twice is fine.

    Raises:
        NotFound: it is not the caller's.
    """
    process = current().process
    live = process.live.get(generation_id)
    if live is not None and _may_read(live, principal):
        live.request_stop("cancelled")
        return
    row = await in_database(generation_get, generation_id=generation_id, principal=principal)
    if not row.is_open:
        return
    # The mark stays for whoever takes it up, should its process die just now.
    await process.leases.mark_cancelled(generation_id)
    owner = await process.leases.owner(generation_id)
    if owner is not None:
        await process.follower.ask_to_cancel(owner, generation_id)


async def _admit(
    gateway: Gateway, pool: PoolConfig, request: GenerationRequest
) -> tuple[LiveGeneration, dict[str, str]]:
    """Room in the queue, then `_prepare`; undone in reverse on a refusal."""
    process, principal = gateway.process, request.principal
    generation_id = request.generation_id or uuid4()
    now = datetime.now(UTC)
    timeout_s = min(request.timeout_s or gateway.settings.timeout_s, gateway.settings.timeout_s)
    estimate = input_estimate(request) + output_estimate(request, pool)
    opened = OpenGeneration(
        generation_id, request, now, now + timedelta(seconds=timeout_s), estimate
    )
    async with AsyncExitStack() as undo:
        try:
            ticket = process.queues[pool.id].reserve(
                priority=principal.plan.queue_priority,
                weight=request.n,
                affinity=str(request.conversation_id) if request.conversation_id else None,
            )
        finally:
            arrival_over(principal.plan.queue_priority)
        undo.callback(ticket.release)
        try:
            async with gateway.admissions:
                live, headers = await _prepare(gateway, opened, pool, undo)
        except (RedisError, OSError) as error:
            log.error("admission_without_redis", error=str(error))
            raise Overloaded("The server cannot take requests now.", retry_after=5) from error
        undo.pop_all()
    generation_run(process, live, ticket)
    return live, headers


async def _prepare(
    gateway: Gateway, opened: OpenGeneration, pool: PoolConfig, undo: AsyncExitStack
) -> tuple[LiveGeneration, dict[str, str]]:
    """Limits, budget, prompt, row, lease. Each leaves in `undo` how it is taken back.

    A client may leave at any moment, so what takes something runs to its end and notes its undo
    before the cancellation is heard.
    """
    process, request = gateway.process, opened.request
    headers = await uninterrupted(_charge_limits, process, opened, undo)
    await uninterrupted(_reserve_budget, opened, pool, undo)
    request = await with_prompt_text(process, pool, request)
    opened = msgspec.structs.replace(opened, request=request)
    checked = await uninterrupted(_store, opened, pool, undo)
    opened = msgspec.structs.replace(opened, request=checked.request)
    live = await _lease(gateway, opened, pool, checked)
    _refuse_the_departed()
    return live, headers


async def _charge_limits(
    process: Process, opened: OpenGeneration, undo: AsyncExitStack
) -> dict[str, str]:
    admission = await process.limiter.admit(
        opened.request.principal, opened.id, tokens=opened.token_estimate
    )
    if admission.is_new:  # else it belongs to another start of the same id
        undo.push_async_callback(uninterrupted, settle_limits, process, opened, Usage())
    return admission.headers


async def _reserve_budget(opened: OpenGeneration, pool: PoolConfig, undo: AsyncExitStack) -> None:
    reserved = await reserve(
        principal=opened.request.principal,
        generation_id=opened.id,
        model=pool.id,
        input_tokens=input_bound(opened.request, pool),
        max_output_tokens=output_limit(opened.request, pool),
    )
    if reserved:  # likewise
        undo.push_async_callback(uninterrupted, settle_budget, opened, None)


async def _store(opened: OpenGeneration, pool: PoolConfig, undo: AsyncExitStack) -> Opened:
    checked = await in_database(
        generation_open,
        generation_id=opened.id,
        request=opened.request,
        pool=pool,
        created_at=opened.created_at,
        deadline_at=opened.deadline_at,
    )
    undo.push_async_callback(uninterrupted, _end_unstarted, opened)
    return checked


def _refuse_the_departed() -> None:
    """Raises CancelledError when the client left on the way here: asgiref's thread hops, which
    others use, swallow the cancellation that says so."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


async def _lease(
    gateway: Gateway, opened: OpenGeneration, pool: PoolConfig, checked: Opened
) -> LiveGeneration:
    process, settings = gateway.process, gateway.settings
    await process.leases.acquire(opened, epoch=1, ttl_ms=settings.request_ttl_ms)
    return LiveGeneration(
        opened,
        epoch=1,
        lease=process.leases.value(1),
        pool=pool,
        policy=checked.policy,
        grace_s=settings.grace_s,
        on_abandoned=lambda live: abandonment_check(process, live),
    )


async def _end_unstarted(opened: OpenGeneration) -> None:
    """Its row exists, but it could not be started: it ends like every other generation. Should
    that fail too, the reaper ends it."""
    try:
        await in_database(
            generation_finish,
            generation_id=opened.id,
            epoch=1,
            ending=Ending(
                state=GenerationState.FAILED,
                finish_reason="error",
                text="",
                usage=Usage(),
                error_code=Overloaded.code or "",
            ),
        )
    except DatabaseError as error:
        log.error("generation_left_to_reaper", generation_id=str(opened.id), error=str(error))


async def _wait_begun(live: LiveGeneration) -> None:
    try:
        error = await live.began
    except BaseException:
        if live.request.on_disconnect == "cancel":
            live.request_stop("cancelled")  # the client left while it waited
        raise
    if error is not None:
        raise error


def _may_read(live: LiveGeneration, principal: Principal) -> bool:
    owner = live.request.principal
    return owner.organization_id == principal.organization_id and owner.user_id == principal.user_id
