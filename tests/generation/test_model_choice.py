"""`auto` is answered by the model that fits: a simple one where prompt or budget say so."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from backend.accounts.model_access import model_rules_clear
from backend.accounts.models import ModelAccess
from backend.accounts.principal import Principal
from backend.conversations.types import ChatMessage
from backend.generation.admission.difficulty import difficulty
from backend.generation.admission.model_choice import ROUTED_HEADER, difficulty_of
from backend.generation.gateway import Gateway
from backend.generation.pools.access import pools_for
from backend.generation.pools.config import Pools
from backend.generation.request import SamplingParams
from backend.generation.tools import Tools
from backend.platform.database import in_database
from backend.platform.errors import InsufficientQuota, ModelNotFound
from billing.budgets.services import budget_set
from billing.prices.loading import clear_price_cache
from billing.prices.services import prices_seed
from infra.load.upstream import SyntheticUpstream
from tests.factories import MODEL
from tests.support.gateway import (
    all_end,
    ask,
    caller,
    cancel,
    chat,
    check_billed,
    pools_of,
    read,
    running_gateway,
    start,
)
from tests.support.reuse import greedy, reuse

SMALL = "small"
EASY = "Tom is 41 years old and lives in Leeds. Where does Tom live?"
HARD = "Calculate 483 * 57."


@pytest.fixture(autouse=True)
def rules_of_the_test() -> Iterator[None]:
    model_rules_clear()
    yield
    model_rules_clear()


def price(model: str, amount: str) -> None:
    prices_seed(prices={model: dict.fromkeys(("input", "cached_input", "output"), amount)})
    clear_price_cache()


def with_small(upstream: SyntheticUpstream, **changes: Any) -> Pools:
    """The usual model, and a small one beside it; both are the same upstream."""
    (usual,) = pools_of(upstream, simple=SMALL, simple_below=0.5).models
    return Pools((usual, replace(usual, id=SMALL, aliases=(), simple="", **changes)))


@pytest.fixture
async def gateway(transactional_db: None, upstream: SyntheticUpstream) -> AsyncIterator[Gateway]:
    await in_database(price, MODEL, "2")
    await in_database(price, SMALL, "1")
    async with running_gateway(with_small(upstream)) as running:
        yield running


def test_difficulty_tells_what_it_has_learnt_apart() -> None:
    assert difficulty(EASY) < 0.25 < 0.6 < difficulty(HARD)
    assert 0 <= difficulty("") <= 1 and 0 <= difficulty("x" * 100_000) <= 1


async def test_easy_prompt_of_auto_goes_to_the_simple_model_and_is_billed_as_its(
    gateway: Gateway,
) -> None:
    principal = await caller()
    started = await start(chat(principal, EASY, model="auto", max_tokens=5))
    assert (started.model, started.headers[ROUTED_HEADER]) == (SMALL, "simple")
    answer = await read(started.id, principal)
    assert {event["model"] for event in answer.chunks} == {SMALL}
    row = await check_billed(started.id, output_tokens=5, state="completed")
    assert row.model == SMALL


@pytest.mark.parametrize(
    "asked",
    [
        {"text": HARD, "model": "auto"},
        {"text": EASY, "model": MODEL},
        {"text": EASY, "model": "auto", "reasoning_effort": "low"},
    ],
    ids=["hard", "by its id", "with thinking"],
)
async def test_everything_else_goes_to_the_usual_model(
    gateway: Gateway, asked: dict[str, Any]
) -> None:
    principal = await caller()
    started = await start(chat(principal, max_tokens=2, **asked))
    assert (started.model, ROUTED_HEADER in started.headers) == (MODEL, False)
    await read(started.id, principal)


async def test_conversation_is_as_hard_as_its_hardest_recent_question() -> None:
    principal = object.__new__(Principal)
    easy = chat(principal, EASY)
    before = [ChatMessage("user", HARD), ChatMessage("assistant", "27531")]
    assert difficulty_of(replace(easy, messages=[*before, *easy.messages])) == difficulty(HARD)
    assert difficulty_of(replace(easy, tools=Tools(tools=[], tool_choice="auto"))) == 1
    asked = SamplingParams(response_format={"type": "json_object"})
    assert difficulty_of(replace(easy, params=asked)) == 1
    long = [ChatMessage("assistant", "word " * 2_000), *easy.messages]
    assert difficulty_of(replace(easy, messages=long)) == 1


def set_budget(principal: Principal, amount: str) -> None:
    budget_set(principal=principal, amount=Decimal(amount), is_hard=True)


async def test_auto_stays_within_a_budget_that_the_usual_model_does_not_fit(
    gateway: Gateway,
) -> None:
    """1,000 tokens of output cost 2 there, and 1 at the small one."""
    principal = await caller()
    await in_database(set_budget, principal, "1.60")
    started = await start(chat(principal, HARD, model="auto", max_tokens=1_000))
    assert (started.model, started.headers[ROUTED_HEADER]) == (SMALL, "budget")
    await cancel(started.id, principal=principal)
    await read(started.id, principal)
    with pytest.raises(InsufficientQuota):
        await start(chat(principal, HARD, model=MODEL, max_tokens=1_000))


async def test_budget_that_fits_neither_refuses(gateway: Gateway) -> None:
    principal = await caller()
    await in_database(set_budget, principal, "0.50")
    with pytest.raises(InsufficientQuota):
        await start(chat(principal, HARD, model="auto", max_tokens=1_000))


async def test_organization_of_a_region_is_answered_there_by_whatever_name_it_asks(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    (usual,) = pools_of(upstream, region="us").models
    us_small, europe, anywhere = (
        replace(usual, id=name, aliases=(), region=region)
        for name, region in (("us-small", "us"), ("europe", "eu"), ("anywhere", ""))
    )
    europe = replace(europe, fallback=("us-small", "anywhere"))
    principal, free = await caller(), await caller()

    def limit_to_europe() -> None:
        for region, is_allowed in (("@*", False), ("@eu", True)):
            ModelAccess.objects.create(
                model=region, organization_id=principal.organization_id, is_allowed=is_allowed
            )
        model_rules_clear()

    await in_database(limit_to_europe)
    async with running_gateway(Pools((usual, us_small, anywhere, europe))) as gateway:
        assert [pool.id for pool in await pools_for(gateway.pools, principal)] == ["europe"]
        started = await start(chat(principal, EASY, model="auto", max_tokens=5))
        assert started.model == "europe"
        await read(started.id, principal)
        for name in (MODEL, "us-small", "anywhere"):
            with pytest.raises(ModelNotFound):
                await start(chat(principal, EASY, model=name, max_tokens=5))
        started = await start(chat(free, HARD, model="auto", max_tokens=5))
        assert started.model == MODEL
        await read(started.id, free)


async def test_fallback_does_not_leave_the_region(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    away = SyntheticUpstream()
    away.port = 1  # nothing answers there
    (usual,) = pools_of(away, region="eu", fallback=("us", "eu-small")).models
    us, small = (
        replace(usual, id=name, aliases=(), region=name[:2], fallback=(), replicas=there.replicas)
        for name, there in zip(("us", "eu-small"), pools_of(upstream).models * 2, strict=True)
    )
    principal = await caller()

    def limit_to_europe() -> None:
        ModelAccess.objects.create(
            model="@us", organization_id=principal.organization_id, is_allowed=False
        )
        model_rules_clear()

    await in_database(limit_to_europe)
    async with running_gateway(Pools((usual, us, small))):
        started = await start(chat(principal, HARD, model="auto", max_tokens=5))
        assert started.model == "eu-small"
        await read(started.id, principal)


async def test_simple_model_that_costs_more_or_cannot_do_it_is_not_taken(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    await in_database(price, MODEL, "0.001")
    await in_database(price, SMALL, "0.002")
    principal = await caller()
    async with running_gateway(with_small(upstream)):
        started = await start(chat(principal, EASY, model="auto", max_tokens=2))
        assert started.model == MODEL
        await read(started.id, principal)
    await in_database(price, SMALL, "0.001")
    async with running_gateway(with_small(upstream, capabilities=("completions",))):
        started = await start(chat(principal, EASY, model="auto", max_tokens=2))
        assert started.model == MODEL
        await read(started.id, principal)


async def test_answer_that_the_simple_model_has_stored_is_given_in_an_outage(
    gateway: Gateway, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    await reuse(principal)
    request = greedy(principal, EASY, model="auto", max_tokens=5)
    await ask(request)
    await all_end(gateway, upstream)
    started, _ = await ask(request)
    assert (started.model, started.headers[ROUTED_HEADER]) == (SMALL, "simple")
    assert started.headers["X-Cache"] == "outage"
