"""Passages of long files, between a stored turn and its generation: found by words, and by meaning
where a model is served that is made for embeddings; reordered where one is made for reranking.

Whatever of that is not there, is refused or is slow is done without: the answer comes anyway.
"""

import asyncio
from contextlib import suppress

import structlog

from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api.client_address import client_hash
from backend.conversations.models import Passage
from backend.conversations.passages import (
    Embedding,
    embeddings_missing,
    embeddings_store,
    passages_find,
    passages_note,
    unit,
    with_passages,
)
from backend.conversations.types import ChatMessage, Turn
from backend.generation.embeddings import EmbeddingRequest, RerankRequest
from backend.generation.lifespan import gateway_of
from backend.generation.pools.access import pools_for
from backend.generation.pools.config import PoolConfig, load_pools
from backend.generation.service import embeddings_create, rerank_create
from backend.platform.database import in_database
from backend.platform.errors import ParleyError

log = structlog.get_logger(__name__)

_EMBED_AT_ONCE = 32
_MAX_EMBEDDED = 512
"""Passages embedded for one question at most; the next one goes on."""
_EMBED_TIMEOUT_S = 20.0
_RERANK_TIMEOUT_S = 10.0
_RERANKED = 30


async def history_with_passages(
    request: AuthenticatedRequest, turn: Turn, principal: Principal
) -> list[ChatMessage]:
    """What the model is to read: the turn's history, with passages where it has long files."""
    answer, question = turn.assistant_message, turn.user_message.text
    if not (answer.sent or {}).get("searched"):
        return turn.history
    embedding = await _embedding(request, turn, principal)
    best = await in_database(passages_find, answer, question, embedding=embedding)
    best = await _reranked(request, principal, question, best)
    chosen = await in_database(passages_note, answer, best)
    return await in_database(with_passages, turn.history, chosen)


async def _embedding(
    request: AuthenticatedRequest, turn: Turn, principal: Principal
) -> Embedding | None:
    """What the question means; before that, passages that have no embedding yet get one."""
    pool = await _made_for("embeddings", principal)
    question = turn.user_message.text.strip()
    if pool is None or not question:
        return None
    try:
        with suppress(TimeoutError):  # what there is then will do
            async with asyncio.timeout(_EMBED_TIMEOUT_S):
                await _embed_missing(request, turn, principal, pool)
        async with asyncio.timeout(_EMBED_TIMEOUT_S):
            [vector] = await _vectors(request, principal, pool, [question])
    except (ParleyError, TimeoutError) as error:
        log.warning("question_not_embedded", model=pool.id, error=repr(error))
        return None
    return Embedding(pool.id, unit(vector))


async def _embed_missing(
    request: AuthenticatedRequest, turn: Turn, principal: Principal, pool: PoolConfig
) -> None:
    missing = await in_database(embeddings_missing, turn.assistant_message, limit=_MAX_EMBEDDED)
    for first in range(0, len(missing), _EMBED_AT_ONCE):
        some = missing[first : first + _EMBED_AT_ONCE]
        vectors = await _vectors(request, principal, pool, [one.text for one in some])
        await in_database(embeddings_store, some, vectors, model=pool.id)


async def _vectors(
    request: AuthenticatedRequest, principal: Principal, pool: PoolConfig, texts: list[str]
) -> list[list[float]]:
    wanted = EmbeddingRequest(
        principal=principal,
        request_id=request.request_id,
        client_hash=client_hash(request),
        model=pool.id,
        inputs=texts,
    )
    answer = await embeddings_create(gateway_of(request.scope), wanted)
    assert isinstance(answer.body, dict)
    data = sorted(answer.body["data"], key=lambda one: int(one["index"]))
    return [one["embedding"] for one in data]


async def _reranked(
    request: AuthenticatedRequest, principal: Principal, question: str, best: list[Passage]
) -> list[Passage]:
    pool = await _made_for("rerank", principal)
    if pool is None or not question.strip() or len(best) < 2:
        return best
    first, others = best[:_RERANKED], best[_RERANKED:]
    wanted = RerankRequest(
        principal=principal,
        request_id=request.request_id,
        client_hash=client_hash(request),
        model=pool.id,
        query=question,
        documents=[one.text for one in first],
        returns_documents=False,
    )
    try:
        async with asyncio.timeout(_RERANK_TIMEOUT_S):
            answer = await rerank_create(gateway_of(request.scope), wanted)
    except (ParleyError, TimeoutError) as error:
        log.warning("passages_not_reranked", model=pool.id, error=repr(error))
        return best
    assert isinstance(answer.body, dict)
    return [first[one["index"]] for one in answer.body["results"]] + others


async def _made_for(capability: str, principal: Principal) -> PoolConfig | None:
    """The first model that is made for it: of one that chats the vectors say little."""
    able = await pools_for(load_pools(), principal)
    made = (p for p in able if capability in p.capabilities and "chat" not in p.capabilities)
    pools = list(made)
    if capability == "rerank":  # an embedding model orders as its vectors did already
        pools = [pool for pool in pools if "embeddings" not in pool.capabilities]
    return pools[0] if pools else None
