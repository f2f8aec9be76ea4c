"""What is answered at once and whole: embeddings, reranking. At most once for each
`Idempotency-Key`: the answer is stored in the transaction that bills it, or neither is."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from django.db import IntegrityError
from django.http import HttpResponse

from backend.accounts.data_policy import calls_are_stored
from backend.accounts.principal import AuthenticatedRequest
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
from backend.generation.embeddings import EmbeddingRequest, RerankRequest, WholeAnswer
from backend.generation.gateway import Gateway
from backend.generation.lifespan import gateway_of
from backend.platform.database import in_database, release_connection
from backend.platform.errors import ParleyError
from backend.platform.json import encode_json

Wanted = TypeVar("Wanted", EmbeddingRequest, RerankRequest)
Make = Callable[[Gateway, Wanted], Awaitable[WholeAnswer]]

_JSON = "application/json"


async def answer_whole(
    request: AuthenticatedRequest, wanted: Wanted, make: Make[Wanted]
) -> HttpResponse:
    """Make `wanted`, and answer with it.

    Raises:
        ParleyError: it was refused; its key is free again.
        Conflict: another request holds its key, or its answer is no longer kept.
    """
    await release_connection()
    if HEADER not in request.headers:
        return await _made(request, wanted, make)
    async with claimed(request) as claim:
        if claim.body is not None:
            return replayed(claim)
        if claim.created_at is not None:
            raise answer_lost()
        return await _made_once(request, wanted, make, claim)


async def _made_once(
    request: AuthenticatedRequest, wanted: Wanted, make: Make[Wanted], claim: Claim
) -> HttpResponse:
    keeps = await calls_are_stored(request.auth)

    def stores(answer: dict[str, Any]) -> None:
        refuse_if_succeeded(claim)
        if keeps:
            store_answer(claim, _JSON, encode_json(answer))

    try:
        once = replace(wanted, generation_id=claim.generation_id, stores=stores)
        return await _made(request, once, make)
    except IntegrityError:  # a request that held the key before this one has just ended
        raise in_use() from None
    except ParleyError:
        await in_database(forget, claim)
        raise


async def _made(request: AuthenticatedRequest, wanted: Wanted, make: Make[Wanted]) -> HttpResponse:
    made = await make(gateway_of(request.scope), wanted)
    return HttpResponse(
        encode_json(made.body),
        content_type=_JSON,
        headers={**made.ratelimit_headers, **id_header(made.id)},
    )
