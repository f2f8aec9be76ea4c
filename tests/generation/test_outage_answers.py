"""While no replica can serve, the stored answer to exactly this request is given, and says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from backend.accounts.models import AnswerCache
from backend.accounts.principal import PlanLimits, Principal, ProjectRules
from backend.generation.admission.fallback import FALLBACK_HEADER
from backend.generation.gateway import Gateway
from backend.generation.models import CachedAnswer, Generation
from backend.generation.pools.config import Pools
from backend.generation.pools.registry import INDEX, EngineRecord, announce
from backend.generation.request import GenerationRequest, SamplingParams
from backend.generation.reuse.answers import answer_store
from backend.generation.reuse.plan import ReusableAnswer
from backend.generation.tools import Tools
from backend.platform.cancellation import end_tasks
from backend.platform.database import in_database
from backend.platform.errors import Overloaded, PermissionDenied, RateLimited
from backend.platform.redis import async_client
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import AMPLE, all_end, ask, caller, pools_of, running_gateway, start
from tests.support.reuse import check_computed, check_reused, greedy, redact_addresses, reuse

TOKENS = 40
KEY = "key-of-the-engines"


async def check_refused(request: GenerationRequest) -> None:
    """For want of a replica, as where nothing is ever stored; nothing is left of it."""
    before = await in_database(Generation.objects.count)
    with pytest.raises(Overloaded, match="No replica of") as refused:
        await start(request)
    assert refused.value.retry_after is not None
    assert await in_database(Generation.objects.count) == before


async def test_stored_answer_is_given_in_an_outage_and_says_so(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    request = greedy(principal, stream_usage=True)
    await ask(request)
    await all_end(gateway, upstream)
    started, answer = await ask(request)
    answer.check_order()
    assert answer.text == words(0, TOKENS)
    assert started.headers["X-Cache"] == "outage"
    await check_reused(started.id, tokens=TOKENS, source="outage")
    assert answer.chunks[-1]["usage"]["completion_tokens_details"]["cached_tokens"] == TOKENS


async def test_request_that_was_not_answered_before_is_refused(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    """Another organization, other parameters, another text, and who wants it computed."""
    outsider = await caller()
    for one in (principal, outsider):
        await reuse(one)
    asked = greedy(principal)
    await ask(asked)
    await all_end(gateway, upstream)
    await check_refused(greedy(outsider))
    await check_refused(greedy(principal, max_tokens=TOKENS + 1))
    await check_refused(greedy(principal, "Name other words."))
    await check_refused(replace(asked, reuse="refresh"))
    await check_refused(replace(asked, reuse="never"))
    await check_refused(replace(asked, tools=Tools(tools=[], tool_choice="auto")))
    await check_refused(replace(asked, params=SamplingParams(max_tokens=TOKENS, temperature=0.7)))


async def test_organization_that_stores_no_answers_is_refused(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    """Also one that has switched it off since."""
    await reuse(principal)
    await ask(greedy(principal))
    await reuse(principal, cache=AnswerCache.OFF)
    await all_end(gateway, upstream)
    await check_refused(greedy(principal))


async def test_policy_that_changed_gets_no_answer_of_before(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    await ask(greedy(principal))
    await redact_addresses(principal.organization_id)
    await all_end(gateway, upstream)
    await check_refused(greedy(principal))


async def test_answer_passes_the_post_check_again(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    await ask(greedy(principal))
    row = await in_database(CachedAnswer.objects.get)
    harmful = "Sure. Now, here is the guide: to make a pipe bomb you will need a pipe and nails."
    await in_database(
        answer_store,
        principal=principal,
        generation_id=row.generation_id,
        model=row.model,
        digest=row.digest,
        revision=row.revision,
        answer=ReusableAnswer(harmful, 4, 20, 0, "stop"),
        lifetime=row.expires_at - row.created_at,
    )
    await all_end(gateway, upstream)
    _, answer = await ask(greedy(principal))
    assert (answer.finish_reason, "bomb" in answer.text) == ("content_filter", False)


async def test_limits_and_rights_hold_in_an_outage(
    gateway: Gateway, principal: Principal, upstream: SyntheticUpstream
) -> None:
    await reuse(principal)
    await ask(greedy(principal))
    await all_end(gateway, upstream)
    with pytest.raises(PermissionDenied):
        await start(greedy(replace(principal, role="viewer")))
    one_a_minute = PlanLimits("tight", AMPLE.queue_priority, 1, 10_000_000, 10_000)
    with pytest.raises(RateLimited):
        for _ in range(3):
            await start(greedy(replace(principal, plan=one_a_minute)))


async def test_answer_that_another_model_of_the_chain_has_stored_is_given(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """It names the model that made it; not to those who may not use that one."""
    (pool,) = pools_of(upstream).models
    small = replace(pool, id="small", aliases=())
    principal = await caller()
    async with running_gateway(Pools((replace(pool, fallback=("small",)), small))) as gateway:
        await reuse(principal)
        await ask(greedy(principal, model="small"))
        await all_end(gateway, upstream)
        started, answer = await ask(greedy(principal))
        assert (started.model, started.headers[FALLBACK_HEADER]) == ("small", pool.id)
        assert started.headers["X-Cache"] == "outage"
        assert {chunk["model"] for chunk in answer.chunks} == {"small"}
        bound = replace(principal, project=ProjectRules(frozenset({pool.id})))
        await check_refused(greedy(bound))


@asynccontextmanager
async def announced(record: EngineRecord) -> AsyncIterator[None]:
    """As its engine would, until it is gone."""

    async def beat() -> None:
        while True:
            await announce(async_client(), record, KEY)
            await asyncio.sleep(0.5)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        await end_tasks([beating])
        await async_client().delete(f"{INDEX}:{record.id}")


async def test_answer_of_the_last_known_revision_is_given(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """Where replicas live, one of another revision is not; where none does, nobody can tell which
    is in force, nor can a web process that has started since."""
    principal = await caller()
    await reuse(principal)
    record = EngineRecord("engine-1", "gpu-1", "synthetic", upstream.url, "ready", revision="first")
    pools = pools_of(replicas=())

    async def with_engine(record: EngineRecord) -> Any:
        async with running_gateway(pools, engine_key=KEY) as gateway, announced(record):
            async with asyncio.timeout(20):
                while not any(queue.replicas.any_healthy for queue in gateway.queues.values()):
                    await asyncio.sleep(0.05)
            return (await ask(greedy(principal)))[0]

    await check_computed((await with_engine(record)).id, tokens=TOKENS)
    second = replace_revision(record, "second")
    await check_computed((await with_engine(second)).id, tokens=TOKENS)
    row = await in_database(CachedAnswer.objects.get)
    assert row.revision == "second"
    async with running_gateway(pools, engine_key=KEY):
        started, _ = await ask(greedy(principal))
        assert started.headers["X-Cache"] == "outage"
        await check_reused(started.id, tokens=TOKENS, source="outage")


def replace_revision(record: EngineRecord, revision: str) -> EngineRecord:
    """Another run of the engine, with another revision of its model."""
    return EngineRecord(
        f"{record.id}-{revision}", record.name, record.model, record.url, "ready", revision
    )
