"""What is answered at once and whole: embeddings, reranking, transcripts. At most once for each
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
from backend.generation.voice import TranscriptionRequest
from backend.platform.database import in_database, release_connection
from backend.platform.errors import ParleyError
from backend.platform.json import encode_json

Wanted = TypeVar("Wanted", EmbeddingRequest, RerankRequest, TranscriptionRequest)
Make = Callable[[Gateway, Wanted], Awaitable[WholeAnswer]]

_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"


async def answer_whole(
    request: AuthenticatedRequest,
    wanted: Wanted,
    make: Make[Wanted],
    content: bytes | None = None,
) -> HttpResponse:
    """Make `wanted`, and answer with it.

    Args:
        content: what tells the request from others, where its body cannot be read again.

    Raises:
        ParleyError: it was refused; its key is free again.
        Conflict: another request holds its key, or its answer is no longer kept.
    """
    await release_connection()
    if HEADER not in request.headers:
        return await _made(request, wanted, make)
    async with claimed(request, content) as claim:
        if claim.body is not None:
            return replayed(claim)
        if claim.created_at is not None:
            raise answer_lost()
        return await _made_once(request, wanted, make, claim)


async def _made_once(
    request: AuthenticatedRequest, wanted: Wanted, make: Make[Wanted], claim: Claim
) -> HttpResponse:
    keeps = await calls_are_stored(request.auth)

    def stores(answer: dict[str, Any] | str) -> None:
        refuse_if_succeeded(claim)
        if keeps:
            body, content_type = _encoded(answer)
            store_answer(claim, content_type, body)

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
    body, content_type = _encoded(made.body)
    return HttpResponse(
        body,
        content_type=content_type,
        headers={**made.ratelimit_headers, **id_header(made.id)},
    )


def _encoded(answer: dict[str, Any] | str) -> tuple[bytes, str]:
    """The answer's bytes, and what they are."""
    return (answer.encode(), _TEXT) if isinstance(answer, str) else (encode_json(answer), _JSON)
