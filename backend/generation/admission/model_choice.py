"""Which model serves a request: by its id the one asked for; by an alias the one that fits.

`auto` asks for an answer and not for a model. Where the pools file names a `simple` model beside
the usual one, a chat that a small model probably answers as well goes there (difficulty.py), and so
does one for which the caller's budget has no room at the usual model. A candidate that is tried
(canary.py) and a chain of what stands in (fallback.py) come after. The answer names the model that
made it; headers say why it is another one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from backend.generation import metrics
from backend.generation.admission.canary import CANARY_HEADER, costs_more, with_canary
from backend.generation.admission.difficulty import difficulty
from backend.generation.admission.fallback import (
    FALLBACK_HEADER,
    can_serve,
    chain_of,
    may_be_used,
    serving_pool,
)
from backend.generation.admission.queue import AdmissionQueue
from backend.generation.pools.access import pool_for
from backend.generation.pools.config import PoolConfig, PoolsInForce
from backend.generation.pools.rollouts import Rollouts
from backend.generation.request import GenerationRequest
from billing.prices.book import Payer
from billing.prices.loading import shared_price_book

ROUTED_HEADER = "x-parley-routed"
_READ_MESSAGES = 6
"""The last of a conversation, by which its difficulty is judged: a hard one stays hard a while."""
_MAX_CHARACTERS = 6_000
"""Of a conversation that may be simple."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model for a request.

    Attributes:
        pool: that serves it.
        usual: what its name stands for.
        mark: by which its answer is counted where a model is tried; "" where none is.
        headers: by which the caller is told of another model than the usual.
    """

    pool: PoolConfig
    usual: PoolConfig
    mark: str = ""
    headers: dict[str, str] = field(default_factory=dict)


async def model_choice(
    pools: PoolsInForce,
    queues: Mapping[str, AdmissionQueue],
    rollouts: Rollouts,
    request: GenerationRequest,
) -> ModelChoice:
    """The model that shall serve `request`.

    Raises:
        ModelNotFound: there is none of this name, or none that the caller may use.
    """
    usual = await pool_for(pools, request.model, request.principal)
    if is_simple(usual, request):
        simple = await _simple_pool(pools, queues, usual, request)
        if simple is not None:
            return ModelChoice(simple, usual, headers=_routed(usual, simple, "simple"))
    headers: dict[str, str] = {}
    tried = await with_canary(pools, queues, rollouts, usual, request)
    if tried.pool is not usual:
        headers[CANARY_HEADER] = usual.id
    serving = await serving_pool(pools, queues, tried.pool, request)
    if serving is not tried.pool:
        headers[FALLBACK_HEADER] = tried.pool.id
    return ModelChoice(serving, usual, tried.mark if serving is tried.pool else "", headers)


async def within_budget(
    pools: PoolsInForce,
    queues: Mapping[str, AdmissionQueue],
    refused: ModelChoice,
    request: GenerationRequest,
) -> ModelChoice | None:
    """Where a budget has no room for the model that was chosen: the `simple` one beside it, however
    hard the prompt is. None where there is none, or where a model was asked for by its id."""
    simple = await _simple_pool(pools, queues, refused.usual, request)
    if simple is None or simple is refused.pool:
        return None
    headers = _routed(refused.usual, simple, "budget")
    return ModelChoice(simple, refused.usual, headers=headers)


async def choices_in_outage(
    pools: PoolsInForce, refused: ModelChoice, request: GenerationRequest
) -> list[ModelChoice]:
    """Whom `request` would have gone to, first the first, had any of them served."""
    choices = [refused]
    if is_simple(refused.usual, request):
        simple = await _simple_of(pools, refused.usual, request)
        if simple is not None:
            choices.insert(0, ModelChoice(simple, refused.usual, headers={ROUTED_HEADER: "simple"}))
    headers = {**refused.headers, FALLBACK_HEADER: refused.pool.id}
    chain = await chain_of(pools, refused.pool, request)
    return choices + [ModelChoice(pool, refused.usual, headers=headers) for pool in chain]


def is_simple(usual: PoolConfig, request: GenerationRequest) -> bool:
    """Whether the model beside `usual` probably answers `request` as well."""
    return bool(usual.simple) and difficulty_of(request) < usual.simple_below


def difficulty_of(request: GenerationRequest) -> float:
    """Of a chat in words alone: of its hardest recent question, from 0 to 1. Everything else
    (tools, schemas, images, thinking, long texts) is hard."""
    params = request.params
    more = (request.tools, params.response_format, request.reasoning_effort, request.prediction)
    if request.endpoint != "chat" or any(more) or request.continues_answer:
        return 1.0
    if any(message.images for message in request.messages):
        return 1.0
    recent = [message for message in request.messages if message.role != "system"]
    texts = [text for message in request.messages for text in message.texts]
    if sum(map(len, texts)) > _MAX_CHARACTERS:
        return 1.0
    asked = [
        text
        for message in recent[-_READ_MESSAGES:]
        if message.role == "user"
        for text in message.texts
    ]
    return max(map(difficulty, asked), default=1.0)


async def _simple_pool(
    pools: PoolsInForce,
    queues: Mapping[str, AdmissionQueue],
    usual: PoolConfig,
    request: GenerationRequest,
) -> PoolConfig | None:
    """The model beside `usual`, if it takes requests now."""
    simple = await _simple_of(pools, usual, request)
    if simple is None or simple.id not in queues or queues[simple.id].refuses_all:
        return None
    return simple


async def _simple_of(
    pools: PoolsInForce, usual: PoolConfig, request: GenerationRequest
) -> PoolConfig | None:
    """The model beside `usual`, if the name that was asked for is an alias, the caller may use it,
    it can do what is asked, and is no dearer."""
    if not usual.simple or request.model == usual.id:
        return None
    simple = pools.get(usual.simple)
    if simple is None:
        return None
    if not can_serve(simple, request) or not await may_be_used(simple, request.principal):
        return None
    payer = Payer(request.principal.organization_id, request.principal.project_id)
    book = await shared_price_book(organization_id=payer.organization_id)
    return None if costs_more(book, simple.id, usual.id, payer) else simple


def _routed(usual: PoolConfig, to: PoolConfig, why: Literal["simple", "budget"]) -> dict[str, str]:
    metrics.ROUTED.labels(usual.id, to.id, why).inc()
    return {ROUTED_HEADER: why}
