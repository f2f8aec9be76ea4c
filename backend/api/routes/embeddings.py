"""`/v1/embeddings`: vectors of texts."""

from dataclasses import replace
from typing import Any

from django.db import IntegrityError
from django.http import HttpResponse
from ninja import Router

from backend.accounts.data_policy import calls_are_stored
from backend.accounts.principal import AuthenticatedRequest
from backend.api.client_address import client_hash
from backend.api.generations import id_header
from backend.api.idempotency import (
    HEADER,
    Claim,
    answer_lost,
    claimed,
    forget,
    in_use,
    refuse_if_succeeded,
    replayed,
    store_answer,
)
from backend.api.observe import note_end_user
from backend.api.openai_requests import from_embeddings
from backend.api.schemas.openai_embeddings import EmbeddingsRequest
from backend.generation.embeddings import EmbeddingRequest
from backend.generation.lifespan import gateway_of
from backend.generation.service import embeddings_create
from backend.platform.database import in_database, release_connection
from backend.platform.errors import ParleyError
from backend.platform.json import encode_json

router = Router(tags=["embeddings"])


@router.post("/embeddings")
async def create_embeddings(request: AuthenticatedRequest, body: EmbeddingsRequest) -> HttpResponse:
    """OpenAI's embeddings. Input tokens are metered; what is embedded is not stored."""
    note_end_user(body.user)
    embedding = from_embeddings(
        body,
        principal=request.auth,
        request_id=request.request_id,
        client_hash=client_hash(request),
    )
    await release_connection()
    if HEADER not in request.headers:
        return await _embed(request, embedding)
    async with claimed(request) as claim:
        if claim.body is not None:
            return replayed(claim)
        if claim.created_at is not None:
            raise answer_lost()
        return await _embed_once(request, embedding, claim)


async def _embed_once(
    request: AuthenticatedRequest, embedding: EmbeddingRequest, claim: Claim
) -> HttpResponse:
    """The answer is stored and billed in one transaction, or neither."""
    keeps = await calls_are_stored(request.auth)

    def stores(answer: dict[str, Any]) -> None:
        refuse_if_succeeded(claim)
        if keeps:
            store_answer(claim, "application/json", encode_json(answer))

    once = replace(embedding, generation_id=claim.generation_id, stores=stores)
    try:
        return await _embed(request, once)
    except IntegrityError:  # a request that held the key before this one has just ended
        raise in_use() from None
    except ParleyError:
        await in_database(forget, claim)
        raise


async def _embed(request: AuthenticatedRequest, embedding: EmbeddingRequest) -> HttpResponse:
    made = await embeddings_create(gateway_of(request.scope), embedding)
    return HttpResponse(
        encode_json(made.body),
        content_type="application/json",
        headers={**made.ratelimit_headers, **id_header(made.id)},
    )
