"""Embeddings: one small request to a replica, under the same limits, budgets and books as answers.

There is nothing to stream, resume or continue, so there is no lease and no row while it runs: the
generation is stored, ended and billed in one transaction, after the vectors have come and before
the caller gets them. A process that dies in between has delivered nothing and bills nothing.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.db import transaction
from redis.exceptions import RedisError

from backend.accounts.principal import Principal
from backend.generation.admission.estimate import prompts_bound, text_estimate
from backend.generation.admission.opening import generation_create
from backend.generation.admission.queue import Ticket
from backend.generation.finish.finalize import settle_budget, settle_limits
from backend.generation.gateway import current
from backend.generation.models import GenerationState
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.replicas import Replica
from backend.generation.process import Process
from backend.generation.records import Ended, Ending, generation_finish
from backend.generation.request import GenerationRequest, Usage
from backend.generation.stream.leases import OpenGeneration
from backend.platform.cancellation import uninterrupted
from backend.platform.database import in_database
from backend.platform.errors import Overloaded, UpstreamFailed
from billing.budgets import reserve

log = structlog.get_logger(__name__)

Inputs = list[str] | list[list[int]]
_MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest:
    """
    Attributes:
        inputs: texts, or lists of token ids; each becomes one vector.
        encoding_format: `float`, or `base64` of little-endian float32 values.
        dimensions: of the vectors; a model that cannot shorten its own refuses others.
    """

    principal: Principal
    request_id: str
    client_hash: str
    model: str
    inputs: Inputs
    encoding_format: str = "float"
    dimensions: int | None = None


@dataclass(frozen=True, slots=True)
class Embeddings:
    """OpenAI's list object, as the replica gave it but for the model's name."""

    id: UUID
    body: dict[str, Any]
    ratelimit_headers: dict[str, str]


async def embeddings_create(request: EmbeddingRequest) -> Embeddings:
    """Embed, and bill the input tokens.

    Raises:
        ParleyError: it was refused, or no replica could do it. Nothing is billed.
    """
    gateway = current()
    process = gateway.process
    pool = process.pools.find(request.model)
    opened = _opened(request, pool, gateway.settings.timeout_s)
    ticket = process.queues[pool.id].reserve(
        priority=request.principal.plan.queue_priority, weight=1, affinity=None
    )
    try:
        return await _embed(process, pool, request, opened, ticket)
    except (RedisError, OSError) as error:
        log.error("embedding_without_redis", error=str(error))
        raise Overloaded("The server cannot take requests now.", retry_after=5) from error
    finally:
        ticket.release()


async def _embed(
    process: Process,
    pool: PoolConfig,
    request: EmbeddingRequest,
    opened: OpenGeneration,
    ticket: Ticket,
) -> Embeddings:
    """Under limits and budget, which are given back should anything fail."""
    async with AsyncExitStack() as undo:
        headers = await uninterrupted(_take, process, pool, request, opened, undo)
        replica, body = await _ask(process, pool, request, ticket)
        usage = Usage(input_tokens=int(body["usage"]["prompt_tokens"]))
        await uninterrupted(_finish, process, pool, opened, replica.config.name, usage, undo)
    return Embeddings(opened.id, {**body, "model": pool.id}, headers)


async def _take(
    process: Process,
    pool: PoolConfig,
    request: EmbeddingRequest,
    opened: OpenGeneration,
    undo: AsyncExitStack,
) -> dict[str, str]:
    """Charge the limits and reserve in the budget; `undo` takes both back."""
    principal = opened.request.principal
    admission = await process.limiter.admit(principal, opened.id, tokens=opened.token_estimate)
    undo.push_async_callback(uninterrupted, settle_limits, process, opened, Usage())
    await reserve(
        principal=principal,
        generation_id=opened.id,
        model=pool.id,
        input_tokens=prompts_bound(request.inputs, pool),
        max_output_tokens=0,
    )
    undo.push_async_callback(uninterrupted, settle_budget, opened, None)
    return admission.headers


async def _finish(
    process: Process,
    pool: PoolConfig,
    opened: OpenGeneration,
    replica: str,
    usage: Usage,
    undo: AsyncExitStack,
) -> None:
    """Store and bill; what it used takes the place of what was set aside."""
    ended = await in_database(_store, opened, pool, replica, usage)
    undo.pop_all()
    await settle_limits(process, opened, usage)
    await settle_budget(opened, ended.facts)


async def _ask(
    process: Process, pool: PoolConfig, request: EmbeddingRequest, ticket: Ticket
) -> tuple[Replica, dict[str, Any]]:
    """The first answer of a replica; those that fail are left for another."""
    body: dict[str, Any] = {
        "model": pool.upstream_model,
        "input": request.inputs,
        "encoding_format": request.encoding_format,
    }
    if request.dimensions is not None:
        body["dimensions"] = request.dimensions
    if pool.dialect == "vllm":
        body["priority"] = request.principal.plan.queue_priority
    replica: Replica | None = await ticket.granted()
    failed: list[Replica] = []
    while replica is not None and len(failed) < _MOST_ATTEMPTS:
        try:
            return replica, await process.client.embed(
                replica.config, body, request_id=request.request_id
            )
        except RequestRefused as refused:
            raise refused.error from refused
        except ReplicaUnavailable as error:
            log.warning("replica_failed", replica=replica.config.name, error=str(error))
            if not error.busy:
                replica.mark(False, str(error))
            failed.append(replica)
            replica = ticket.move(failed)
            if replica in failed:
                break
    raise UpstreamFailed(f"No replica of {pool.id!r} could serve this. Try again.")


def _opened(request: EmbeddingRequest, pool: PoolConfig, timeout_s: float) -> OpenGeneration:
    now = datetime.now(UTC)
    generation = GenerationRequest(
        principal=request.principal,
        request_id=request.request_id,
        client_hash=request.client_hash,
        endpoint="embedding",
        model=pool.id,
    )
    estimate = sum(
        text_estimate(item) if isinstance(item, str) else len(item) for item in request.inputs
    )
    return OpenGeneration(uuid4(), generation, now, now + timedelta(seconds=timeout_s), estimate)


@transaction.atomic
def _store(opened: OpenGeneration, pool: PoolConfig, replica: str, usage: Usage) -> Ended:
    generation_create(opened.id, opened.request, pool, opened.created_at, opened.deadline_at)
    return generation_finish(
        generation_id=opened.id,
        epoch=1,
        ending=Ending(
            state=GenerationState.COMPLETED,
            finish_reason="stop",
            text="",
            usage=usage,
            pool=pool.id,
            replica=replica,
            started_at=opened.created_at,
        ),
    )
