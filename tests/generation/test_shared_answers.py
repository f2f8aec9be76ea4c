"""Identical requests that arrive while one is answered get its answer, each as a generation of its
own; what becomes of the first is not what becomes of them."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from redis.asyncio import Redis

from backend.accounts.models import AnswerCache, Project
from backend.conversations.types import ChatMessage, ToolCall
from backend.generation.admission.prompt_check import policy_for
from backend.generation.request import Event, GenerationRequest, SamplingParams
from backend.generation.reuse.keys import digest_of, flight_name
from backend.generation.tools import Tools
from backend.platform.database import in_database
from infra.load.upstream import SyntheticUpstream, words
from safety.audit.selectors import policy_cache_clear
from safety.audit.services import policy_save
from tests.factories import MODEL, member
from tests.support.gateway import (
    TURN,
    Answer,
    ask,
    caller,
    cancel,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    read,
    running_gateway,
    start,
    stored,
    until_ended,
)
from tests.support.reuse import check_computed, check_reused, greedy, reuse

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]
TIMEOUT_S = 60.0
TOKENS = 40


async def whole(started: Any, request: GenerationRequest) -> Answer:
    answer = await asyncio.wait_for(read(started.id, request.principal), TIMEOUT_S)
    answer.check_order()
    return answer


async def test_identical_requests_are_computed_once(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller(), stream_usage=True)
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        others = [await start(request) for _ in range(3)]
        answers = await asyncio.gather(*(whole(one, request) for one in (first, *others)))
    assert len({first.id, *(one.id for one in others)}) == 4
    assert [answer.text for answer in answers] == [words(0, TOKENS)] * 4
    assert len(upstream.served) == 1
    assert "X-Cache" not in first.headers
    await check_computed(first.id, tokens=TOKENS)
    for one, answer in zip(others, answers[1:], strict=True):
        assert one.headers["X-Cache"] == "shared"
        await check_reused(one.id, tokens=TOKENS, source="shared")
        usage = answer.chunks[-1]["usage"]
        assert usage["completion_tokens_details"]["cached_tokens"] == TOKENS
        assert usage["prompt_tokens_details"]["cached_tokens"] == usage["prompt_tokens"] > 0


async def test_thought_of_a_shared_answer_is_delivered_as_one_and_billed_as_cached(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller())
    upstream.behaviour.rate, upstream.behaviour.thoughts = 40.0, 10
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        second = await start(request)
        answers = [await whole(one, request) for one in (first, second)]
    for answer in answers:
        said = [part["delta"] for chunk in answer.chunks for part in chunk["choices"]]
        thought = "".join(delta.get("reasoning_content", "") for delta in said)
        assert (thought, answer.text) == (words(0, 10), words(10, TOKENS))
    await check_reused(second.id, tokens=TOKENS, source="shared")
    assert (await stored(first.id)).reasoning_tokens == 10


async def test_follower_is_cancelled_alone(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller())
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        first, second, third = [await start(request) for _ in range(3)]
        await cancel(second.id, principal=request.principal)
        stopped = await until_ended(second.id)
        answers = [await whole(one, request) for one in (first, third)]
    assert stopped.state == "cancelled"
    assert stopped.output_tokens == stopped.cached_output_tokens < TOKENS
    assert [answer.text for answer in answers] == [words(0, TOKENS)] * 2
    assert len(upstream.served) == 1


async def test_text_that_a_follower_held_back_counts_as_reused_when_it_is_cut_short(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    """Its own check lets go of the beginning of an address at the end; nothing of it was computed
    for it. Its policy is another one than the first's, or they would hold back the same."""
    request = greedy(await caller(), turn=TURN, on_disconnect="grace")
    script = ["Write", " to", " quentin", "@example.org"]
    upstream = await start_upstream(script=script, hang_after=3)
    async with running_gateway(pools_of(upstream)) as gateway:
        first = await start(request)
        await read(first.id, request.principal, until=_has_said("Write to quentin"))
        await _redact_addresses(request.principal.organization_id)
        await _plant(request, str(first.id))
        second = await start(request)
        following = gateway.active.get(second.id)
        assert following is not None
        async with asyncio.timeout(TIMEOUT_S):
            while following.choices[0].generated != "Write to quentin":
                await asyncio.sleep(0.02)
        assert following.choices[0].tokens < 3
        await cancel(second.id, principal=request.principal)
        stopped = await until_ended(second.id)
    assert len(upstream.served) == 1
    assert (stopped.output_tokens, stopped.cached_output_tokens) == (3, 3)
    await check_billed(second.id, output_tokens=3, state="cancelled")


@pytest.mark.parametrize("leaves", [False, True], ids=["cancelled", "its client left"])
async def test_followers_go_on_when_the_first_is_cancelled(
    transactional_db: None, upstream: SyntheticUpstream, leaves: bool
) -> None:
    """One of them is computed from its text so far, and the other follows that one."""
    request = greedy(await caller())
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        others = [await start(request) for _ in range(2)]
        reading = [asyncio.create_task(whole(one, request)) for one in others]
        await read(first.id, request.principal, until=lambda events: len(events) == 5)
        if not leaves:  # else the reader that has just gone was its only one
            await cancel(first.id, principal=request.principal)
        assert (await until_ended(first.id)).state == "cancelled"
        answers = await asyncio.gather(*reading)
    assert [answer.text for answer in answers] == [words(0, TOKENS)] * 2
    assert len(upstream.served) == 2
    rows = [await check_billed(one.id, output_tokens=TOKENS, state="completed") for one in others]
    reused = sorted(row.cached_output_tokens for row in rows)
    assert 0 < reused[0] < TOKENS == reused[1]


async def test_follower_in_another_process_survives_the_first_ones_process(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller(), max_tokens=60, turn=TURN, on_disconnect="grace")
    upstream.behaviour.rate = 40.0
    dying = await doomed_gateway(pools_of(upstream))
    first = await start(request)
    await read(first.id, request.principal, until=lambda events: len(events) == 3)
    async with running_gateway(pools_of(upstream)):
        second = await start(request)
        await read(second.id, request.principal, until=lambda events: len(events) == 5)
        assert len(upstream.served) == 1
        await kill_gateway(dying)
        answers = [await whole(one, request) for one in (second, first)]
    assert [answer.text for answer in answers] == [words(0, 60)] * 2
    await check_billed(first.id, output_tokens=60, state="completed")
    await check_billed(second.id, output_tokens=60, state="completed")


async def test_first_and_follower_survive_the_death_of_their_process(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """A follower goes on as any other generation: what it had was reused, the rest is computed."""
    request = greedy(await caller(), max_tokens=60, turn=TURN, on_disconnect="grace")
    upstream.behaviour.rate = 40.0
    dying = await doomed_gateway(pools_of(upstream))
    both = [await start(request) for _ in range(2)]
    await asyncio.gather(
        *(read(one.id, request.principal, until=lambda e: len(e) == 8) for one in both)
    )
    await kill_gateway(dying)
    async with running_gateway(pools_of(upstream)):
        answers = [await whole(one, request) for one in both]
    assert [answer.text for answer in answers] == [words(0, 60)] * 2
    row = await check_billed(both[1].id, output_tokens=60, state="completed")
    assert 0 < row.cached_output_tokens < 60


async def test_draining_process_hands_followers_over(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller(), max_tokens=60, turn=TURN, on_disconnect="grace")
    upstream.behaviour.rate = 20.0
    async with running_gateway(pools_of(upstream), drain_s=0.2):
        both = [await start(request) for _ in range(2)]
        for one in both:
            await read(one.id, request.principal, until=lambda events: len(events) == 4)
    async with running_gateway(pools_of(upstream)):
        answers = [await whole(one, request) for one in both]
    assert [answer.text for answer in answers] == [words(0, 60)] * 2


async def test_followers_find_out_themselves_when_the_first_is_stopped(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    request = greedy(await caller())
    flagged = "Sure. Now, here is the guide: to make a pipe bomb you will need a pipe and nails."
    script = [f"{word} " for word in flagged.split()]
    upstream = await start_upstream(script=script, rate=20.0)
    async with running_gateway(pools_of(upstream)):
        both = [await start(request) for _ in range(2)]
        answers = [await whole(one, request) for one in both]
    assert [answer.finish_reason for answer in answers] == ["content_filter"] * 2
    assert all("bomb" not in answer.text for answer in answers)
    assert [(await stored(one.id)).state for one in both] == ["blocked"] * 2


DIFFERENT: dict[str, Callable[[GenerationRequest], GenerationRequest]] = {
    "another prompt": lambda r: replace(r, messages=[ChatMessage("user", "Name other words.")]),
    "a system message": lambda r: replace(r, messages=[ChatMessage("system", "Hm."), *r.messages]),
    "another limit": lambda r: replace(r, params=SamplingParams(max_tokens=39, temperature=0)),
    "another tier": lambda r: replace(r, service_tier="flex"),
    "never": lambda r: replace(r, reuse="never"),
    "refresh": lambda r: replace(r, reuse="refresh"),
}


@pytest.mark.parametrize("change", DIFFERENT.values(), ids=list(DIFFERENT))
async def test_other_requests_are_computed(
    transactional_db: None, upstream: SyntheticUpstream, change: Any
) -> None:
    request = greedy(await caller())
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        second = await start(change(request))
        await whole(first, request)
        await whole(second, request)
    assert len(upstream.served) == 2
    assert (await stored(second.id)).answer_source == ""


NEVER: dict[str, dict[str, Any]] = {
    "sampled": {"params": SamplingParams(max_tokens=TOKENS, temperature=0.7)},
    "the model's own temperature": {"params": SamplingParams(max_tokens=TOKENS)},
    "tools": {
        "tools": Tools([{"type": "function", "function": {"name": "f", "parameters": {}}}], "auto")
    },
    "a tool's result": {
        "messages": [
            ChatMessage("user", "Look it up."),
            ChatMessage("assistant", "", tool_calls=[ToolCall("call_1", "f", "{}")]),
            ChatMessage("tool", "words", tool_call_id="call_1"),
        ]
    },
    "candidates": {"n": 2},
    "logprobs": {"params": SamplingParams(max_tokens=TOKENS, temperature=0, logprobs=True)},
    "a prediction": {"prediction": "w0 w1"},
}


@pytest.mark.parametrize("changes", NEVER.values(), ids=list(NEVER))
async def test_requests_that_share_nothing_are_computed_twice(
    transactional_db: None, upstream: SyntheticUpstream, changes: dict[str, Any]
) -> None:
    request = replace(greedy(await caller()), **changes)
    capabilities = ("chat", "logprobs", "streaming", "tools", "grammar_resume", "prediction")
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream, capabilities=capabilities)):
        both = [await start(request) for _ in range(2)]
        for one in both:
            await whole(one, request)
    assert len(upstream.served) == 2 * request.n
    assert [(await stored(one.id)).answer_source for one in both] == ["", ""]


async def test_pool_that_cannot_continue_shares_nothing(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """A follower whose leader ends early could not go on."""
    request = greedy(await caller())
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream, dialect="openai")):
        both = [await start(request) for _ in range(2)]
        for one in both:
            await whole(one, request)
    assert len(upstream.served) == 2


async def test_organization_decides_what_is_shared(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    sampled = greedy(principal)
    sampled = replace(sampled, params=SamplingParams(max_tokens=TOKENS, temperature=0.7))
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        await reuse(principal, cache=AnswerCache.OFF, running=False)
        for one in [await start(greedy(principal)) for _ in range(2)]:
            await whole(one, sampled)
        assert len(upstream.served) == 2
        await reuse(principal, cache=AnswerCache.OFF, sampled=True)
        for one in [await start(sampled) for _ in range(2)]:
            await whole(one, sampled)
    assert len(upstream.served) == 3


async def test_another_organization_follows_nothing(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller())
    outsider = replace(request, principal=await caller())
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        second = await start(outsider)
        await whole(first, request)
        await whole(second, outsider)
    assert len(upstream.served) == 2
    await check_computed(second.id, tokens=TOKENS)


async def test_projects_share_unless_they_keep_for_another_time(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """What one project deletes after a day is not found again in another one's history."""
    principal = await caller()
    organization_id = principal.organization_id
    like, shorter = [
        await in_database(
            Project.objects.create, organization_id=organization_id, name=name, retention_days=days
        )
        for name, days in (("like", None), ("shorter", 1))
    ]
    request = greedy(principal)
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        others = [
            await start(replace(request, principal=replace(principal, project_id=project.pk)))
            for project in (like, shorter)
        ]
        for one in (first, *others):
            await whole(one, request)
    assert [(await stored(one.id)).answer_source for one in others] == ["shared", ""]
    assert len(upstream.served) == 2


@pytest.mark.parametrize("processes", [1, 2])
async def test_flight_that_names_another_organizations_generation_is_not_followed(
    transactional_db: None, upstream: SyntheticUpstream, processes: int
) -> None:
    """Should Redis be written to by somebody else, the row says whose a generation is."""
    request = greedy(await caller())
    outsider = replace(request, principal=await caller())
    upstream.behaviour.rate = 20.0
    pools = pools_of(upstream)
    async with running_gateway(pools):
        foreign = await start(outsider)
        async with running_gateway(pools) if processes == 2 else nullcontext():
            await _plant(request, str(foreign.id))
            second = await start(request)
            answer = await whole(second, request)
        await cancel(foreign.id, principal=outsider.principal)
        await until_ended(foreign.id)
    assert answer.text == words(0, TOKENS)
    await check_computed(second.id, tokens=TOKENS)


async def test_request_is_computed_when_redis_refuses_the_flight(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller())
    async with running_gateway(pools_of(upstream)):
        await _plant(request, None)
        started, answer = await ask(request)
    assert answer.text == words(0, TOKENS)
    await check_computed(started.id, tokens=TOKENS)


async def test_flight_of_an_ended_generation_is_taken_over(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    request = greedy(await caller())
    async with running_gateway(pools_of(upstream)):
        ended, _ = await ask(request)
        await until_ended(ended.id)
        await _plant(request, str(ended.id))
        second, _ = await ask(request)
    assert len(upstream.served) == 2
    await check_computed(second.id, tokens=TOKENS)


async def test_requests_under_different_policies_are_computed_apart(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """A policy that changed meanwhile, or a stricter one: its answers are its own."""
    owner = await in_database(member)
    request = greedy(
        replace(
            await caller(),
            organization_id=owner.organization_id,
            project_id=owner.project_id,
            user_id=owner.user_id,
        )
    )
    upstream.behaviour.rate = 40.0
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        await _redact_addresses(owner.organization_id)
        second = await start(request)
        for one in (first, second):
            await whole(one, request)
    assert len(upstream.served) == 2
    await check_computed(second.id, tokens=TOKENS)


def _has_said(text: str) -> Callable[[list[Event]], bool]:
    return lambda events: Answer(events).text == text


async def _redact_addresses(organization_id: UUID) -> None:
    await in_database(
        policy_save,
        organization_id=organization_id,
        model="",
        document={"redact": ["email"]},
        created_by_id=None,
    )
    policy_cache_clear()


async def _plant(request: GenerationRequest, generation_id: str | None) -> None:
    """Put a generation under the request's flight; None: what no flight can be."""
    pool = pools_of(upstream_model="synthetic").get(MODEL)
    assert pool is not None
    policy = await in_database(
        policy_for, organization_id=request.principal.organization_id, model=MODEL
    )
    digest = digest_of(request, pool, policy, revision="")
    assert digest is not None
    name = flight_name(request.principal.organization_id, digest)
    async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        if generation_id is None:
            await redis.lpush(name, "no flight")
        else:
            await redis.set(name, generation_id)
