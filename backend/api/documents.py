"""Passages of long files, between a stored turn and its generation: found by words, and by meaning
where a model is served that is made for embeddings; reordered where one is made for reranking.

Whatever of that is not there, is refused or is slow is done without: the answer comes anyway.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

import structlog

from backend.accounts.principal import Principal
from backend.conversations.models import Message, Passage
from backend.conversations.parts import files_read, has_files
from backend.conversations.passages import (
    Embedding,
    embeddings_missing,
    embeddings_store,
    passages_find,
    passages_note,
    question_of,
    unit,
    with_passages,
)
from backend.conversations.types import ChatMessage, Turn
from backend.generation.embeddings import EmbeddingRequest, RerankRequest
from backend.generation.gateway import Gateway
from backend.generation.pools.access import pools_for
from backend.generation.pools.config import PoolConfig, load_pools
from backend.generation.service import embeddings_create, rerank_create
from backend.platform.database import in_database
from backend.platform.errors import ParleyError
from backend.platform.stored_files import in_storage

log = structlog.get_logger(__name__)

_EMBED_AT_ONCE = 32
_MAX_EMBEDDED = 512
"""Passages embedded for one question at most; the next one goes on."""
_EMBED_TIMEOUT_S = 20.0
_RERANK_TIMEOUT_S = 10.0
_RERANKED = 30


@dataclass(frozen=True, slots=True)
class Asker:
    """In whose name models are asked for vectors and an order."""

    gateway: Gateway
    principal: Principal
    request_id: str
    client_hash: str = ""


async def history_with_passages(asker: Asker, turn: Turn) -> list[ChatMessage]:
    """What the model is to read: the turn's history, with its files, and passages of long ones.

    Raises:
        StorageUnavailable.
    """
    answer, history = turn.assistant_message, turn.history
    if has_files(history):
        history = await in_storage(files_read, history)
    if not (answer.sent or {}).get("searched"):
        return history
    question = await in_database(question_of, turn.user_message)
    embedding = await _embedding(asker, answer, question.strip())
    best = await in_database(passages_find, answer, question, embedding=embedding)
    best = await _reranked(asker, question, best)
    chosen = await in_database(passages_note, answer, best)
    return await in_database(with_passages, history, chosen)


async def _embedding(asker: Asker, answer: Message, question: str) -> Embedding | None:
    """What the question means; before that, passages that have no embedding yet get one."""
    pool = await _made_for("embeddings", asker.principal)
    if pool is None or not question:
        return None
    try:
        with suppress(TimeoutError):  # what there is then will do
            async with asyncio.timeout(_EMBED_TIMEOUT_S):
                await _embed_missing(asker, answer, pool)
        async with asyncio.timeout(_EMBED_TIMEOUT_S):
            [vector] = await _vectors(asker, pool, [question])
    except (ParleyError, TimeoutError) as error:
        log.warning("question_not_embedded", model=pool.id, error=repr(error))
        return None
    return Embedding(pool.id, unit(vector))


async def _embed_missing(asker: Asker, answer: Message, pool: PoolConfig) -> None:
    missing = await in_database(embeddings_missing, answer, limit=_MAX_EMBEDDED)
    for first in range(0, len(missing), _EMBED_AT_ONCE):
        some = missing[first : first + _EMBED_AT_ONCE]
        vectors = await _vectors(asker, pool, [one.text for one in some])
        await in_database(embeddings_store, some, vectors, model=pool.id)


async def _vectors(asker: Asker, pool: PoolConfig, texts: list[str]) -> list[list[float]]:
    wanted = EmbeddingRequest(
        principal=asker.principal,
        request_id=asker.request_id,
        client_hash=asker.client_hash,
        model=pool.id,
        inputs=texts,
    )
    answer = await embeddings_create(asker.gateway, wanted)
    assert isinstance(answer.body, dict)
    data = sorted(answer.body["data"], key=lambda one: int(one["index"]))
    return [one["embedding"] for one in data]


async def _reranked(asker: Asker, question: str, best: list[Passage]) -> list[Passage]:
    pool = await _made_for("rerank", asker.principal)
    if pool is None or not question.strip() or len(best) < 2:
        return best
    first, others = best[:_RERANKED], best[_RERANKED:]
    wanted = RerankRequest(
        principal=asker.principal,
        request_id=asker.request_id,
        client_hash=asker.client_hash,
        model=pool.id,
        query=question,
        documents=[one.text for one in first],
        returns_documents=False,
    )
    try:
        async with asyncio.timeout(_RERANK_TIMEOUT_S):
            answer = await rerank_create(asker.gateway, wanted)
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
