"""Embeddings: one small request to a replica, under the same limits, budgets and books as answers.

There is nothing to stream, resume or continue, so there is no lease and no row while it runs: the
generation is stored, ended and billed in one transaction, after the vectors have come and before
the caller gets them. A process that dies in between has delivered nothing and bills nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import structlog
from django.db import transaction

from backend.accounts.principal import Principal
from backend.generation.admission.estimate import prompts_bound, text_estimate
from backend.generation.admission.pipeline import Admission, AdmissionPipeline
from backend.generation.admission.queue import Ticket
from backend.generation.finish.settle import Settlement
from backend.generation.models import GenerationState
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig
from backend.generation.pools.errors import ReplicaUnavailable, RequestRefused
from backend.generation.pools.replicas import Replica
from backend.generation.records import (
    FinalState,
    Finished,
    generation_create,
    generation_finish,
)
from backend.generation.request import AdmittedGeneration, GenerationRequest, Usage
from backend.platform.cancellation import uninterrupted
from backend.platform.database import in_database
from backend.platform.errors import UpstreamFailed

log = structlog.get_logger(__name__)

Inputs = list[str] | list[list[int]]
MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest:
    """
    Attributes:
        inputs: texts, or lists of token ids; each becomes one vector.
        encoding_format: `float`, or `base64` of little-endian float32 values.
        dimensions: of the vectors; a model that cannot shorten its own refuses others.
        service_tier: see GenerationRequest.
        generation_id: chosen by the caller; a second one of one id fails with IntegrityError.
        stores: called with the answer in the transaction that bills it.
    """

    principal: Principal
    request_id: str
    client_hash: str
    model: str
    inputs: Inputs
    encoding_format: str = "float"
    dimensions: int | None = None
    service_tier: str = ""
    generation_id: UUID | None = None
    stores: Callable[[dict[str, Any]], None] | None = None


@dataclass(frozen=True, slots=True)
class Embeddings:
    """OpenAI's list object, as the replica gave it but for the model's name."""

    id: UUID
    body: dict[str, Any]
    ratelimit_headers: dict[str, str]


async def embed(
    pipeline: AdmissionPipeline,
    client: UpstreamClient,
    settlement: Settlement,
    pool: PoolConfig,
    request: EmbeddingRequest,
    *,
    timeout_s: float,
) -> Embeddings:
    """Embed `request` at a replica of `pool`, and bill it; see service.embeddings_create."""
    admission = _admission(pool, request, timeout_s)
    await pipeline.admit(admission, pipeline.for_embeddings)
    ticket, admitted = admission.ticket, admission.admitted
    assert ticket is not None
    try:
        replica, body = await _ask(client, pool, request, ticket)
        usage = Usage(input_tokens=int(body["usage"]["prompt_tokens"]))
        answer = {**body, "model": pool.id}

        async def finish() -> None:
            """What it used takes the place of what was set aside."""
            stores = partial(request.stores, answer) if request.stores is not None else None
            finished = await in_database(_store, admitted, pool, replica.config.name, usage, stores)
            admission.taken.clear()
            await settlement.limits(admitted, usage)
            await settlement.budget(admitted, finished.facts)

        await uninterrupted(finish)
    finally:
        await pipeline.undo(admission)
        ticket.release()
    return Embeddings(admitted.id, answer, admission.ratelimit_headers)


async def _ask(
    client: UpstreamClient, pool: PoolConfig, request: EmbeddingRequest, ticket: Ticket
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
    while replica is not None and len(failed) < MAX_ATTEMPTS:
        try:
            answer = await client.embed(replica.config, body, request_id=request.request_id)
            replica.breaker.succeeded()
            return replica, answer
        except RequestRefused as refused:
            raise refused.error from refused
        except ReplicaUnavailable as error:
            log.warning("replica_failed", replica=replica.config.name, error=str(error))
            if not error.busy:
                replica.failed(str(error))
            failed.append(replica)
            replica = ticket.move(failed)
            if replica in failed:
                break
    raise UpstreamFailed(f"No replica of {pool.id!r} could serve this. Try again.")


def _admission(pool: PoolConfig, request: EmbeddingRequest, timeout_s: float) -> Admission:
    now = datetime.now(UTC)
    generation = GenerationRequest(
        principal=request.principal,
        request_id=request.request_id,
        client_hash=request.client_hash,
        endpoint="embedding",
        model=pool.id,
        service_tier=request.service_tier,
    )
    estimate = sum(
        text_estimate(item) if isinstance(item, str) else len(item) for item in request.inputs
    )
    admitted = AdmittedGeneration(
        request.generation_id or uuid4(),
        generation,
        now,
        now + timedelta(seconds=timeout_s),
        estimate,
        pool.id,
    )
    return Admission(
        admitted=admitted,
        pool=pool,
        max_input_tokens=prompts_bound(request.inputs, pool),
        max_output_tokens=0,
    )


@transaction.atomic
def _store(
    admitted: AdmittedGeneration,
    pool: PoolConfig,
    replica: str,
    usage: Usage,
    stores: Callable[[], None] | None,
) -> Finished:
    generation_create(admitted, model=pool.id)
    if stores is not None:
        stores()
    return generation_finish(
        generation_id=admitted.id,
        epoch=1,
        final=FinalState(
            state=GenerationState.COMPLETED,
            finish_reason="stop",
            text="",
            usage=usage,
            pool=pool.id,
            replica=replica,
            started_at=admitted.created_at,
        ),
    )
