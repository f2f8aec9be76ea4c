"""Requests whose answers may be reused, and what became of them."""

import asyncio
import os
from dataclasses import replace
from typing import Any
from uuid import UUID

from redis.asyncio import Redis

from backend.accounts.data_policy import ReuseRules, answer_reuse_set, data_rules_clear
from backend.accounts.models import AnswerCache
from backend.accounts.principal import Principal
from backend.generation.admission.prompt_check import policy_for
from backend.generation.models import Generation
from backend.generation.request import GenerationRequest, SamplingParams
from backend.generation.reuse.keys import digest_of, flight_name
from backend.platform.database import in_database
from safety.audit.selectors import policy_cache_clear
from safety.audit.services import policy_save
from tests.factories import MODEL
from tests.support.gateway import Answer, chat, pools_of, read, stored, usage_records

_TIMEOUT_S = 60.0


def greedy(
    principal: Principal, text: str = "Name the words.", **changes: Any
) -> GenerationRequest:
    """A request to which there is one answer."""
    params = SamplingParams(max_tokens=changes.pop("max_tokens", 40), temperature=0)
    return chat(principal, text, params=params, **changes)


def other_of(principal: Principal, **changes: Any) -> Principal:
    """Another session of the same caller, whose generations are its own."""
    return replace(principal, **changes)


async def reuse(
    principal: Principal,
    *,
    cache: AnswerCache = AnswerCache.EXACT,
    running: bool = True,
    sampled: bool = False,
    lifetime_s: int = 3600,
) -> None:
    """Have the caller's organization reuse answers so."""
    data_rules_clear()
    rules = ReuseRules(running, cache, lifetime_s, sampled)
    await in_database(answer_reuse_set, principal=principal, rules=rules)


async def check_reused(generation: Any, *, tokens: int, source: str) -> Generation:
    """Its row and its one usage record say that it ended, with `tokens` that were not computed."""
    row = await stored(generation)
    [record] = await usage_records(generation)
    assert (row.state, row.answer_source) == ("completed", source)
    for one in (row, record):
        assert (one.output_tokens, one.cached_output_tokens) == (tokens, tokens)
        assert one.input_tokens == one.cached_input_tokens > 0
        assert one.reasoning_tokens == 0
    return row


async def check_computed(generation: Any, *, tokens: int) -> Generation:
    """The same of one that was computed."""
    row = await stored(generation)
    [record] = await usage_records(generation)
    assert (row.state, row.answer_source) == ("completed", "")
    for one in (row, record):
        assert (one.output_tokens, one.cached_output_tokens) == (tokens, 0)
    return row


async def whole(started: Any, request: GenerationRequest) -> Answer:
    """All that a reader sees of it."""
    answer = await asyncio.wait_for(read(started.id, request.principal), _TIMEOUT_S)
    answer.check_order()
    return answer


async def redact_addresses(organization_id: UUID) -> None:
    """From now on its policy is another one."""
    await in_database(
        policy_save,
        organization_id=organization_id,
        model="",
        document={"redact": ["email"]},
        created_by_id=None,
    )
    policy_cache_clear()


async def plant_flight(request: GenerationRequest, generation_id: str | None) -> None:
    """Put a generation under the request's flight; None: what no flight can be."""
    pool = pools_of(upstream_model="synthetic").get(MODEL)
    assert pool is not None
    policy = await in_database(
        policy_for, organization_id=request.principal.organization_id, model=MODEL
    )
    digest = digest_of(request, pool, policy)
    assert digest is not None
    name = flight_name(request.principal.organization_id, digest, revision="")
    async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        if generation_id is None:
            await redis.lpush(name, "no flight")
        else:
            await redis.set(name, generation_id)
