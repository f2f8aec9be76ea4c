"""Requests and tokens a minute, and how many at a time."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from backend.accounts.principal import ModelLimit, PlanLimits, Principal, ProjectRules
from backend.generation.admission.allowed import require_allowed
from backend.generation.admission.rate_limits import Limiter
from backend.generation.admission.scopes import LimitScope, scopes_of
from backend.generation.gateway import Gateway
from backend.platform.errors import Conflict, PermissionDenied, RateLimited
from tests.support.gateway import (
    ask,
    cancel,
    chat,
    read,
    start,
    until_ended,
)


@pytest.fixture
async def limiter(services: object) -> AsyncIterator[Limiter]:
    async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        yield Limiter(redis, longest_s=60)


def limited_principal(
    *, requests: int = 1000, tokens: int = 100_000, concurrent: int = 100, key: bool = False
) -> Principal:
    plan = PlanLimits("free", 10, requests, tokens, concurrent)
    return Principal(uuid4(), uuid4(), uuid4(), uuid4() if key else None, "owner", plan)


async def admitted(limiter: Limiter, principal: Principal, tokens: int = 10) -> UUID:
    generation_id = uuid4()
    await limiter.admit(principal, generation_id, tokens=tokens)
    return generation_id


async def test_minute_admits_as_many_requests_as_the_plan_allows(limiter: Limiter) -> None:
    principal = limited_principal(requests=5)
    for _ in range(5):
        await admitted(limiter, principal)
    with pytest.raises(RateLimited) as caught:
        await admitted(limiter, principal)

    error = caught.value
    assert "5 requests per minute" in error.message
    assert error.retry_after is not None and 0 < error.retry_after <= 13
    assert error.headers["x-ratelimit-limit-requests"] == "5"
    assert error.headers["x-ratelimit-remaining-requests"] == "0"
    assert error.headers["x-ratelimit-reset-requests"].endswith("s")


async def test_parallel_requests_do_not_exceed_the_limit(limiter: Limiter) -> None:
    principal = limited_principal(requests=10)
    results = await asyncio.gather(
        *(admitted(limiter, principal) for _ in range(40)), return_exceptions=True
    )
    assert sum(isinstance(result, UUID) for result in results) == 10


async def test_refused_request_is_not_charged(limiter: Limiter) -> None:
    principal = limited_principal(requests=100, tokens=100)
    for _ in range(3):
        with pytest.raises(RateLimited):
            await admitted(limiter, principal, tokens=60)
            await admitted(limiter, principal, tokens=60)
    headers = (await limiter.admit(principal, uuid4(), tokens=40)).headers
    assert headers["x-ratelimit-remaining-tokens"] == "0"
    assert headers["x-ratelimit-remaining-requests"] == "98"


async def test_overestimated_tokens_are_refunded(limiter: Limiter) -> None:
    principal = limited_principal(tokens=1000)
    generation_id = await admitted(limiter, principal, tokens=900)
    with pytest.raises(RateLimited):
        await admitted(limiter, principal, tokens=500)
    await limiter.settle(principal, generation_id, estimated=900, used=100)
    await limiter.settle(principal, generation_id, estimated=900, used=100)  # only once

    headers = (await limiter.admit(principal, uuid4(), tokens=500)).headers
    assert 390 <= int(headers["x-ratelimit-remaining-tokens"]) <= 420


async def test_underestimated_tokens_delay_the_next_request(limiter: Limiter) -> None:
    principal = limited_principal(tokens=1000)
    generation_id = await admitted(limiter, principal, tokens=100)
    await limiter.settle(principal, generation_id, estimated=100, used=1500)
    with pytest.raises(RateLimited, match="tokens per minute") as caught:
        await admitted(limiter, principal, tokens=10)
    assert caught.value.retry_after is not None and caught.value.retry_after > 25


async def test_request_larger_than_the_limit_passes_alone(limiter: Limiter) -> None:
    principal = limited_principal(tokens=100)
    await admitted(limiter, principal, tokens=5000)
    with pytest.raises(RateLimited):
        await admitted(limiter, principal, tokens=1)


async def test_concurrent_requests_are_limited(limiter: Limiter) -> None:
    principal = limited_principal(concurrent=2)
    first = await admitted(limiter, principal)
    await admitted(limiter, principal)
    with pytest.raises(RateLimited, match="2 generations at a time"):
        await admitted(limiter, principal)
    await limiter.settle(principal, first, estimated=10, used=10)
    await admitted(limiter, principal)


async def test_running_generation_is_charged_once(limiter: Limiter) -> None:
    principal = limited_principal(requests=10, concurrent=1)
    generation_id = uuid4()
    first = await limiter.admit(principal, generation_id, tokens=10)
    again = await limiter.admit(principal, generation_id, tokens=10)
    assert (first.is_new, again.is_new) == (True, False)
    assert again.headers["x-ratelimit-remaining-requests"] == "9"


async def test_refused_second_start_leaves_the_first_place_taken(
    gateway: Gateway, principal: Principal
) -> None:
    caller = replace(principal, plan=PlanLimits("free", 10, 100, 100_000, 1))
    generation_id = uuid4()
    started = await start(chat(caller, max_tokens=2_000, generation_id=generation_id))
    with pytest.raises(Conflict):
        await start(chat(caller, max_tokens=2_000, generation_id=generation_id))
    with pytest.raises(RateLimited, match="at a time"):
        await start(chat(caller, max_tokens=5))
    await cancel(started.id, principal=caller)
    await until_ended(started.id)
    await ask(chat(caller, max_tokens=5))


async def test_organizations_share_no_limit(limiter: Limiter) -> None:
    one, other = limited_principal(requests=1), limited_principal(requests=1)
    await admitted(limiter, one)
    await admitted(limiter, other)


async def test_users_and_keys_have_their_own_limits(
    limiter: Limiter, monkeypatch: pytest.MonkeyPatch
) -> None:
    scopes = "backend.generation.admission.rate_limits.scopes_of"
    monkeypatch.setattr(scopes, _half_for_users_and_keys)
    principal = limited_principal(requests=10, key=True)
    for _ in range(5):
        await admitted(limiter, principal)
    with pytest.raises(RateLimited, match=r"API key|user"):
        await admitted(limiter, principal)
    colleague = replace(principal, user_id=uuid4(), key_id=uuid4())
    await admitted(limiter, colleague)


async def test_headers_state_the_remaining_limit(gateway: Gateway, principal: Principal) -> None:
    plan = PlanLimits("free", 10, 3, 100_000, 10)
    caller = replace(principal, plan=plan)
    started, _ = await ask(chat(caller, max_tokens=5))
    assert started.headers["x-ratelimit-remaining-requests"] == "2"
    await ask(chat(caller, max_tokens=5))
    await ask(chat(caller, max_tokens=5))
    with pytest.raises(RateLimited):
        await start(chat(caller, max_tokens=5))


async def test_ended_generation_frees_its_place(gateway: Gateway, principal: Principal) -> None:
    caller = replace(principal, plan=PlanLimits("free", 10, 100, 100_000, 1))
    started = await start(chat(caller, max_tokens=20))
    with pytest.raises(RateLimited):
        await start(chat(caller, max_tokens=5))
    await read(started.id, caller)
    await until_ended(started.id)
    await ask(chat(caller, max_tokens=5))


def _half_for_users_and_keys(principal: Principal, model: str) -> list[LimitScope]:
    return scopes_of(principal, model, user_share=0.5, key_share=0.5)


async def test_project_has_limits_of_its_own_for_a_model(limiter: Limiter) -> None:
    rules = ProjectRules(limits=(ModelLimit("small", 2, 1000),))
    principal = replace(limited_principal(requests=100), project=rules)
    for _ in range(2):
        await limiter.admit(principal, uuid4(), tokens=10, model="small")

    with pytest.raises(RateLimited) as caught:
        await limiter.admit(principal, uuid4(), tokens=10, model="small")

    assert "limit of this project is reached: 2 requests per minute" in caught.value.message
    await limiter.admit(principal, uuid4(), tokens=10, model="other")
    elsewhere = replace(principal, project_id=uuid4())
    await limiter.admit(elsewhere, uuid4(), tokens=10, model="small")


def test_viewer_and_project_without_the_model_are_refused() -> None:
    principal = limited_principal()
    require_allowed(principal, "small")
    with pytest.raises(PermissionDenied):
        require_allowed(replace(principal, role="viewer"), "small")
    restricted = replace(principal, project=ProjectRules(allowed_models=frozenset({"big"})))
    require_allowed(restricted, "big")
    with pytest.raises(PermissionDenied) as refused:
        require_allowed(restricted, "small")
    assert (refused.value.code, refused.value.param) == ("model_not_found", "model")
