"""Embeddings and reranking: one small request to a replica, under the same limits, budgets and
books as answers.

There is nothing to stream, resume or continue, so there is no lease and no row while it runs: the
generation is stored, ended and billed in one transaction, after the vectors have come and before
the caller gets them. While PostgreSQL is away that waits. A process that dies in between has
delivered nothing and bills nothing.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar
from uuid import UUID

import msgspec
import structlog
from django.db import transaction

from backend.accounts.principal import Principal
from backend.generation.admission.estimate import prompts_bound, text_estimate
from backend.generation.admission.pipeline import Admission, AdmissionPipeline
from backend.generation.admission.queue import Ticket
from backend.generation.finish.settle import Settlement
from backend.generation.finish.waiting import whole_generation_store
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
from backend.generation.request import AdmittedGeneration, Endpoint, GenerationRequest, admitted_now
from backend.generation.usage import Usage
from backend.platform.cancellation import uninterrupted
from backend.platform.errors import UpstreamFailed

log = structlog.get_logger(__name__)

Inputs = list[str] | list[list[int]]
MAX_ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What both have.

    Attributes:
        service_tier: see GenerationRequest.
        generation_id: chosen by the caller; a second one of one id fails with IntegrityError.
        stores: called with the answer in the transaction that bills it.
    """

    principal: Principal
    request_id: str
    client_hash: str
    model: str
    service_tier: str = ""
    generation_id: UUID | None = None
    stores: Callable[[dict[str, Any]], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingRequest(_Request):
    """
    Attributes:
        inputs: texts, or lists of token ids; each becomes one vector.
        encoding_format: `float`, or `base64` of little-endian float32 values.
        dimensions: of the vectors; a model that cannot shorten its own refuses others.
    """

    inputs: Inputs
    encoding_format: str = "float"
    dimensions: int | None = None

    endpoint: ClassVar[Endpoint] = "embedding"
    path: ClassVar[str] = "/v1/embeddings"

    @property
    def body(self) -> dict[str, Any]:
        """For a replica; the model's name is put in."""
        body = {"input": self.inputs, "encoding_format": self.encoding_format}
        return body if self.dimensions is None else {**body, "dimensions": self.dimensions}

    @property
    def readings(self) -> list[Inputs]:
        """How a model may read it: as lists of prompts, each read alone."""
        return [self.inputs]

    def answer(self, body: dict[str, Any], pool: PoolConfig) -> dict[str, Any]:
        """OpenAI's list object, as the replica gave it but for the model's name."""
        return {**body, "model": pool.id}


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankRequest(_Request):
    """
    Attributes:
        top_n: so many results; None: one for each document.
    """

    query: str
    documents: list[str]
    top_n: int | None = None
    returns_documents: bool = True

    endpoint: ClassVar[Endpoint] = "rerank"
    path: ClassVar[str] = "/v1/rerank"

    @property
    def body(self) -> dict[str, Any]:
        body = {"query": self.query, "documents": self.documents}
        return body if self.top_n is None else {**body, "top_n": self.top_n}

    @property
    def readings(self) -> list[Inputs]:
        """By an encoder of texts, or by one that reads each document with the query."""
        return [[self.query, *self.documents], [self.query + text for text in self.documents]]

    def answer(self, body: dict[str, Any], pool: PoolConfig) -> dict[str, Any]:
        """As Jina and vLLM have it; the texts are those of the request, whatever came back."""
        results = msgspec.convert(body["results"], list[_Ranked])
        if any(result.index >= len(self.documents) for result in results):
            raise UpstreamFailed(f"{pool.id!r} ranked a document that it was not given.")
        tokens = _tokens(body)
        return {
            "id": body.get("id", ""),
            "object": "list",
            "model": pool.id,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            "results": [self._result(result) for result in results],
        }

    def _result(self, result: "_Ranked") -> dict[str, Any]:
        shown = {"document": {"text": self.documents[result.index]}}
        document = shown if self.returns_documents else {}
        return {"index": result.index, **document, "relevance_score": result.relevance_score}


class _Ranked(msgspec.Struct):
    """One result of a replica."""

    index: Annotated[int, msgspec.Meta(ge=0)]
    relevance_score: float


@dataclass(frozen=True, slots=True)
class WholeAnswer:
    """What the caller gets."""

    id: UUID
    body: dict[str, Any] | str
    ratelimit_headers: dict[str, str]


async def answer_at_once(
    pipeline: AdmissionPipeline,
    client: UpstreamClient,
    settlement: Settlement,
    pool: PoolConfig,
    request: EmbeddingRequest | RerankRequest,
    *,
    timeout_s: float,
) -> WholeAnswer:
    """Have `request` answered by a replica of `pool`, and bill it."""
    admission = _admission(pool, request, timeout_s)
    await pipeline.admit(admission, pipeline.for_embeddings)
    ticket, admitted = admission.ticket, admission.admitted
    assert ticket is not None
    try:
        replica, body = await _ask(client, pool, request, ticket, timeout_s)
        try:
            usage, answer = Usage(input_tokens=_tokens(body)), request.answer(body, pool)
        except (KeyError, TypeError, ValueError) as error:
            raise UpstreamFailed(f"{replica.name} of {pool.id!r} answered otherwise.") from error

        async def finish() -> None:
            """What it used takes the place of what was set aside."""
            stores = partial(request.stores, answer) if request.stores is not None else None
            store = partial(_store, admitted, pool, replica.config.name, usage, stores)
            finished = await whole_generation_store(admitted, store)
            admission.taken.clear()
            await settlement.limits(admitted, usage)
            await settlement.budget(admitted, finished.facts)

        await uninterrupted(finish)
    finally:
        await pipeline.undo(admission)
        ticket.release()
    return WholeAnswer(admitted.id, answer, admission.ratelimit_headers)


def _tokens(body: dict[str, Any]) -> int:
    """Servers that only rerank count no others than the prompt's."""
    usage = body["usage"]
    return int(usage.get("prompt_tokens") or usage["total_tokens"])


async def _ask(
    client: UpstreamClient,
    pool: PoolConfig,
    request: EmbeddingRequest | RerankRequest,
    ticket: Ticket,
    timeout_s: float,
) -> tuple[Replica, dict[str, Any]]:
    """The first answer of a replica; those that fail are left for another."""
    body: dict[str, Any] = {"model": pool.upstream_model, **request.body}
    if pool.dialect == "vllm":
        body["priority"] = request.principal.plan.queue_priority
    try:
        async with asyncio.timeout(timeout_s):  # for a place, or for its replica to be started
            replica: Replica | None = await ticket.granted()
    except TimeoutError:
        raise UpstreamFailed(f"No replica of {pool.id!r} was free in time. Try again.") from None
    failed: list[Replica] = []
    while replica is not None and len(failed) < MAX_ATTEMPTS:
        try:
            answer = await client.answer_whole(
                replica.config, request.path, body, request_id=request.request_id
            )
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


def _admission(
    pool: PoolConfig, request: EmbeddingRequest | RerankRequest, timeout_s: float
) -> Admission:
    generation = GenerationRequest(
        principal=request.principal,
        request_id=request.request_id,
        client_hash=request.client_hash,
        endpoint=request.endpoint,
        model=pool.id,
        service_tier=request.service_tier,
    )
    estimate = sum(
        text_estimate(item) if isinstance(item, str) else len(item) for item in request.readings[0]
    )
    admitted = admitted_now(
        generation,
        generation_id=request.generation_id,
        timeout_s=timeout_s,
        token_estimate=estimate,
    )
    return Admission(
        admitted=admitted,
        pool=pool,
        max_input_tokens=max(prompts_bound(reading, pool) for reading in request.readings),
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
    row = generation_create(admitted, model=pool.id)
    if stores is not None:
        stores()
    return generation_finish(
        generation_id=admitted.id,
        row=row,
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
