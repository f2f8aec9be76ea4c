"""What `api` calls: start a generation, read it, wait for it, cancel it; embed; hear
and speak.

The gateway of the web process is given (`gateway_of` finds it in a request's scope).
"""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from uuid import UUID

from redis.exceptions import RedisError

from backend.accounts.principal import Principal
from backend.generation.admission.pipeline import Admission
from backend.generation.admission.prompt_check import Fence
from backend.generation.admission.shared_queue import QueuePlace, queue_place
from backend.generation.admission.shed import PendingRequest
from backend.generation.admit import admit
from backend.generation.completion import Completion
from backend.generation.embeddings import (
    EmbeddingRequest,
    RerankRequest,
    WholeAnswer,
    answer_at_once,
)
from backend.generation.finish.result import completion_of_events, raise_without_text
from backend.generation.gateway import Gateway
from backend.generation.pools.access import able_pool_for, pool_for
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.continuation import upstream_body
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.request import (
    Event,
    GenerationRequest,
    StartedGeneration,
)
from backend.generation.run.active import ActiveGeneration
from backend.generation.run.replay import EventMeta, replay
from backend.generation.selectors import generation_get
from backend.generation.stations import SERVER_TIMING, StationClock, server_timing
from backend.generation.trace import GenerationTrace
from backend.generation.untrusted_content import with_marked_content
from backend.generation.voice import (
    TranscriptionRequest,
    VoiceEvent,
    VoiceParts,
    VoiceRequest,
    voice_call,
    voice_stream,
    voice_whole,
)
from backend.platform.database import in_database
from backend.platform.errors import ParleyError, UpstreamFailed
from backend.platform.received import received
from safety.audit.selectors import policy_for


async def generation_start(
    gateway: Gateway,
    request: GenerationRequest,
    *,
    pending: PendingRequest | None = None,
    fence: Fence | None = None,
) -> StartedGeneration:
    """Admit a generation and let it run in a task of its own.

    With `turn` (the page), or where it goes on without readers, it returns as soon as the
    generation is queued. Else when a
    replica has accepted it: a refusal then still has an HTTP status of its own.

    Args:
        pending: how load shedding counts the request.
        fence: whether the caller may still start it, asked in the transaction that stores it.
    Raises:
        ParleyError: it was refused, or failed before there was anything to read. Nothing runs,
            and what was reserved is given back.
    """
    came = received()
    clock = StationClock(time.monotonic(), came.at)
    trace = GenerationTrace.begin(clock, came.traceparent)
    try:
        admission, more = await admit(gateway, request, pending, fence, clock, trace)
    except BaseException as error:
        code = error.code if isinstance(error, ParleyError) else None
        trace.end(clock, {"error.type": code or type(error).__name__}, failed=True)
        raise
    headers = {**admission.ratelimit_headers, **more}
    if admission.failed_over:
        trace.end(None, {}, failed=True)
    else:
        await _run(gateway, admission, clock, trace)
        headers |= {SERVER_TIMING: server_timing(clock.milliseconds())}
        headers |= admission.reuse.headers if admission.reuse is not None else {}
    created = int(admission.admitted.created_at.timestamp())
    return StartedGeneration(admission.admitted.id, created, admission.pool.id, headers)


async def _run(
    gateway: Gateway, admission: Admission, clock: StationClock, trace: GenerationTrace
) -> None:
    """Run what was admitted; return when its caller may read it."""
    assert admission.policy is not None
    clock.admitted()
    request = admission.admitted.request
    active = gateway.activate(
        admission.admitted,
        admission.pool,
        admission.policy,
        admission.row,
        clock,
        trace,
        admission.reuse,
    )
    plan = admission.reuse
    if plan is None or plan.computes:
        assert admission.ticket is not None
        gateway.generation_tasks.start(active, admission.ticket)
        gateway.shadows.offer(active)
    else:
        gateway.generation_tasks.start(active, gateway.late_place(active))
    if request.turn is None and request.on_disconnect != "go_on":
        await _wait_begun(active)


async def generation_check(gateway: Gateway, generation_id: UUID, *, principal: Principal) -> None:
    """Raises NotFound unless the generation exists and is the caller's."""
    active = gateway.active.get(generation_id)
    if active is not None and active.may_be_read_by(principal):
        return
    await in_database(generation_get, generation_id=generation_id, principal=principal)


async def generation_events(
    gateway: Gateway,
    generation_id: UUID,
    *,
    principal: Principal,
    after: int = 0,
    is_checked: bool = False,
) -> AsyncGenerator[Event]:
    """The events after `after`, then those to come, from any process; `[DONE]` last.

    Reading holds the generation: closing this is leaving, see `GenerationRequest.on_disconnect`.

    Args:
        is_checked: the caller has just called `generation_check` with this principal.

    Raises:
        NotFound: it is not the caller's, or its events are not kept any more.
    """
    if not is_checked:
        await generation_check(gateway, generation_id, principal=principal)
    async with aclosing(gateway.reader.events(generation_id, after=after)) as batches:
        async for batch in batches:
            for event in batch:
                yield event


async def generation_result(
    gateway: Gateway, generation_id: UUID, *, principal: Principal
) -> Completion:
    """Wait for the end, and give the whole answer: from memory where it was produced, from its
    events after a failover or in another process.

    Raises:
        ParleyError: it failed before there was any text. With text, the answer has `error`.
        NotFound: as for `generation_events`.
    """
    await generation_check(gateway, generation_id, principal=principal)
    active = gateway.active.get(generation_id)
    if active is not None and not active.failed_over:
        completion = await _wait_completed(active)
        if completion is not None:
            return raise_without_text(completion)
    events: list[bytes] = []
    async with aclosing(gateway.reader.events(generation_id, after=0)) as batches:
        async for batch in batches:
            events += [event.data for event in batch]
    row = await in_database(generation_get, generation_id=generation_id, principal=principal)
    state = replay(((data, EventMeta()) for data in events), choices=1)
    return raise_without_text(completion_of_events(row, state))


async def generation_cancel(gateway: Gateway, generation_id: UUID, *, principal: Principal) -> None:
    """Stop it, wherever it runs; its text so far is kept and billed. Twice is fine.

    Raises:
        NotFound: it is not the caller's.
    """
    active = gateway.active.get(generation_id)
    if active is not None and active.may_be_read_by(principal):
        active.request_stop("cancelled")
        return
    row = await in_database(generation_get, generation_id=generation_id, principal=principal)
    if not row.is_open:
        return
    # The mark stays for the process that continues it, should its own die just now.
    await gateway.leases.mark_cancelled(generation_id)
    owner = await gateway.leases.owner(generation_id)
    if owner is not None:
        await gateway.follower.ask_to_cancel(owner, generation_id)


async def generation_queue_place(
    gateway: Gateway, generation_id: UUID, *, principal: Principal
) -> QueuePlace:
    """Where it waits in its pool's queue, in whichever process; nothing where Redis is away.

    Raises:
        NotFound: it is not the caller's.
    """
    row = await in_database(generation_get, generation_id=generation_id, principal=principal)
    try:
        return await queue_place(gateway.redis, row.model, str(generation_id))
    except (RedisError, OSError):
        return QueuePlace()


async def embeddings_create(gateway: Gateway, request: EmbeddingRequest) -> WholeAnswer:
    """Embed, and bill the input tokens.

    Raises:
        ParleyError: it was refused, or no replica could do it. Nothing is billed.
    """
    return await _answer_at_once(gateway, request, "embeddings")


async def rerank_create(gateway: Gateway, request: RerankRequest) -> WholeAnswer:
    """Order documents, and bill the input tokens; see `embeddings_create`."""
    return await _answer_at_once(gateway, request, "rerank")


async def _answer_at_once(
    gateway: Gateway, request: EmbeddingRequest | RerankRequest, capability: str
) -> WholeAnswer:
    pool = await able_pool_for(gateway.pools, request.model, request.principal, capability)
    return await answer_at_once(
        gateway.admission,
        gateway.client,
        gateway.settlement,
        pool,
        request,
        timeout_s=gateway.settings.timeout_s,
    )


async def transcription_create(gateway: Gateway, request: TranscriptionRequest) -> WholeAnswer:
    """What is said in a recording, whole; its begun seconds are billed.

    Raises:
        ParleyError: it was refused, or no replica could do it. Nothing is billed.
    """
    pool = await _voice_pool(gateway, request)
    async with voice_call(_voice_parts(gateway), pool, request) as call:
        answer = await voice_whole(call, request)
    return WholeAnswer(call.id, answer, call.ratelimit_headers)


async def voice_events(
    gateway: Gateway, request: VoiceRequest
) -> AsyncGenerator[VoiceEvent | StartedGeneration]:
    """First how it was admitted, when there is something to deliver; then the server's events.
    What was delivered is billed, however it ends.

    Raises:
        ParleyError: as `transcription_create`; also after some events.
    """
    pool = await _voice_pool(gateway, request)
    async with (
        voice_call(_voice_parts(gateway), pool, request) as call,
        aclosing(voice_stream(call, request)) as events,
    ):
        begun = False
        async for event in events:
            if not begun:
                begun = True
                created = int(datetime.now(UTC).timestamp())
                yield StartedGeneration(call.id, created, pool.id, call.ratelimit_headers)
            yield event


async def _voice_pool(gateway: Gateway, request: VoiceRequest) -> PoolConfig:
    capability = f"{request.endpoint}s" if isinstance(request, TranscriptionRequest) else "speech"
    return await able_pool_for(gateway.pools, request.model, request.principal, capability)


def _voice_parts(gateway: Gateway) -> VoiceParts:
    return VoiceParts(
        pipeline=gateway.admission,
        client=gateway.client,
        settlement=gateway.settlement,
        timeout_s=gateway.settings.timeout_s,
    )


async def prompt_tokens_count(gateway: Gateway, request: GenerationRequest) -> int:
    """How many input tokens a chat would be billed, by its model. Nothing is generated or billed.

    Raises:
        ParleyError: the model does not take it, or no replica could count.
    """
    pool = await pool_for(gateway.pools, request.model, request.principal)
    replica = gateway.queues[pool.id].replicas.choose(weight=0, affinity=None, over_limit=True)
    if replica is None:
        raise UpstreamFailed(f"No replica of {pool.id!r} could count this. Try again.")
    policy = await in_database(
        policy_for,
        organization_id=request.principal.organization_id,
        model=pool.id,
        key_id=request.principal.key_id,
    )
    marked = await asyncio.to_thread(with_marked_content, request, policy)
    whole = upstream_body(marked, pool, choice=0, text_so_far="", tokens_so_far=0)
    kept = {"model", "messages", "tools", "continue_final_message", "add_generation_prompt"}
    body = {name: value for name, value in whole.items() if name in kept}
    try:
        return await gateway.client.count_tokens(replica.config, body)
    except RequestRefused as refused:
        raise refused.error from refused
    except ReplicaUnavailable as error:
        raise UpstreamFailed(f"No replica of {pool.id!r} could count this. Try again.") from error


async def _wait_begun(active: ActiveGeneration) -> None:
    """A caller who waits in the queue is a reader, however long that takes."""
    active.attach()
    try:
        error = await active.began
    except BaseException:
        if active.request.on_disconnect == "cancel":
            active.request_stop("cancelled")  # the client left while it waited
        raise
    finally:
        active.detach_for_reader()
    if error is not None:
        raise error


async def _wait_completed(active: ActiveGeneration) -> Completion | None:
    """A caller who waits is a reader: one who leaves counts as such."""
    active.attach()
    try:
        return await active.completion
    finally:
        active.detach()
