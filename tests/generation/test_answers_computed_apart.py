"""What does not follow an answer that is being computed, though it asks much the same."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from backend.accounts.models import AnswerCache, Project
from backend.conversations.types import ChatMessage, ToolCall
from backend.generation.request import GenerationRequest, SamplingParams
from backend.generation.tools import Tools
from backend.platform.database import in_database
from infra.load.upstream import SyntheticUpstream, words
from tests.factories import member
from tests.support.gateway import (
    HELD,
    ask,
    caller,
    cancel,
    pools_of,
    running_gateway,
    start,
    stored,
    until_ended,
)
from tests.support.reuse import (
    check_computed,
    greedy,
    plant_flight,
    redact_addresses,
    reuse,
    whole,
)

TOKENS = 40


DIFFERENT: dict[str, Callable[[GenerationRequest], GenerationRequest]] = {
    "another prompt": lambda r: replace(r, messages=[ChatMessage("user", "Name other words.")]),
    "a system message": lambda r: replace(r, messages=[ChatMessage("system", "Hm."), *r.messages]),
    "another limit": lambda r: replace(r, params=SamplingParams(max_tokens=39, temperature=0)),
    "another tier": lambda r: replace(r, service_tier="flex"),
    "never": lambda r: replace(r, reuse="never"),
    "refresh": lambda r: replace(r, reuse="refresh"),
}


async def test_other_requests_are_computed(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """While the first is computed, and from each other."""
    request = greedy(await caller())
    upstream.behaviour.hang_after = HELD
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        others = {name: await start(change(request)) for name, change in DIFFERENT.items()}
        upstream.behaviour.hang_after = None
        for one in (first, *others.values()):
            await whole(one, request)
    assert len(upstream.served) == 1 + len(others)
    for name, other in others.items():
        assert (await stored(other.id)).answer_source == "", name


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


async def test_requests_that_share_nothing_are_computed_twice(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    usual = greedy(await caller())
    requests = {name: replace(usual, **changes) for name, changes in NEVER.items()}
    capabilities = ("chat", "logprobs", "streaming", "tools", "grammar_resume", "prediction")
    upstream.behaviour.hang_after = HELD
    async with running_gateway(pools_of(upstream, capabilities=capabilities)):
        both = {
            name: [await start(request) for _ in range(2)] for name, request in requests.items()
        }
        upstream.behaviour.hang_after = None
        for name, started in both.items():
            for one in started:
                await whole(one, requests[name])
    assert len(upstream.served) == sum(2 * request.n for request in requests.values())
    for name, started in both.items():
        assert [(await stored(one.id)).answer_source for one in started] == ["", ""], name


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
        upstream.behaviour.hang_after = HELD
        both = [await start(sampled) for _ in range(2)]
        upstream.behaviour.hang_after = None
        for one in both:
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
    upstream.behaviour.hang_after = HELD
    async with running_gateway(pools_of(upstream)):
        first = await start(request)
        others = [
            await start(replace(request, principal=replace(principal, project_id=project.pk)))
            for project in (like, shorter)
        ]
        upstream.behaviour.hang_after = None
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
            await plant_flight(request, str(foreign.id))
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
        await plant_flight(request, None)
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
        await plant_flight(request, str(ended.id))
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
        await redact_addresses(owner.organization_id)
        second = await start(request)
        for one in (first, second):
            await whole(one, request)
    assert len(upstream.served) == 2
    await check_computed(second.id, tokens=TOKENS)
