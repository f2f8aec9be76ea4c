"""Hard budgets hold against concurrency, lost counters, repeats, and settlements in any order."""

import asyncio
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
import redis
from asgiref.sync import sync_to_async
from django.db import transaction

from backend.accounts.models import Project
from backend.accounts.principal import Principal
from backend.platform.errors import InsufficientQuota
from backend.platform.redis import REQUESTS
from billing.budgets import Reservation, reserve, settle
from billing.budgets.counters import RESERVATIONS, Counter, amount_of
from billing.budgets.limits import clear_limits_cache, organization_limits
from billing.budgets.services import budget_set
from billing.budgets.spending import rebuild_counters, spent_by_limit
from billing.models import Price
from billing.prices.book import Tier
from billing.prices.loading import clear_price_cache
from billing.prices.services import BEGINNING, next_hour, prices_seed, prices_set
from billing.quantities import Kind
from billing.services import UsageFacts, usage_record_create
from tests.billing import factories

pytestmark = pytest.mark.django_db(transaction=True)

# 1 USD for each token, so that costs can be read off.
PRICES = {factories.MODEL: {"input": "1000", "output": "1000"}}


@sync_to_async
def caller_with_budget(amount: int, *, is_hard: bool = True) -> Principal:
    prices_seed(prices=PRICES)
    caller = factories.principal()
    budget_set(principal=caller, amount=Decimal(amount), is_hard=is_hard)
    return caller


@sync_to_async
def record(facts: UsageFacts) -> None:
    with transaction.atomic():
        usage_record_create(facts=facts)


async def ask(caller: Principal, tokens: int) -> UUID:
    generation_id = uuid4()
    await ask_as(generation_id, caller, tokens)
    return generation_id


async def ask_as(generation_id: UUID, caller: Principal, tokens: int) -> bool:
    """Whether it is this call's to give back."""
    found = await reserve(
        principal=caller,
        generation_id=generation_id,
        model=factories.MODEL,
        input_tokens=0,
        max_output_tokens=tokens,
    )
    return found is Reservation.NEW


def used(caller: Principal, generation_id: UUID, tokens: int) -> UsageFacts:
    return factories.facts(
        caller,
        generation_id=generation_id,
        input_tokens=0,
        cached_input_tokens=0,
        output_tokens=tokens,
    )


async def end(caller: Principal, generation_id: UUID, tokens: int) -> None:
    facts = used(caller, generation_id, tokens)
    await record(facts)
    await settle(generation_id=generation_id, facts=facts)


@sync_to_async
def counted(caller: Principal) -> dict[str, Decimal]:
    limits = organization_limits(caller.organization_id)
    [limit], currency = limits.limits, limits.currency
    counter = Counter.at(caller.organization_id, currency, limit.name, datetime.now(UTC))
    with redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True) as client:
        spent = client.hget(counter.keys[0], "spent") or 0
        reserved = client.hget(counter.keys[RESERVATIONS], "sum") or 0
    return {
        "spent": amount_of(int(spent), currency),
        "reserved": amount_of(int(reserved), currency),
    }


@sync_to_async
def lose_redis() -> None:
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.flushdb()


async def test_concurrent_callers_cannot_overspend():
    """50 requests of at most 10 USD against 100: ten run, whatever the order."""
    caller = await caller_with_budget(100)
    answers = await asyncio.gather(*(ask(caller, 10) for _ in range(50)), return_exceptions=True)
    admitted = [answer for answer in answers if isinstance(answer, UUID)]
    assert len(admitted) == 10
    assert all(isinstance(a, UUID | InsufficientQuota) for a in answers)
    await asyncio.gather(*(end(caller, generation_id, 10) for generation_id in admitted))
    assert await counted(caller) == {"spent": 100, "reserved": 0}
    with pytest.raises(InsufficientQuota, match=r"100\.00 USD"):
        await ask(caller, 1)


async def test_generation_reserves_and_pays_the_price_of_its_project():
    """A tenth of what the organization pays elsewhere, so ten times as many fit."""
    caller = await caller_with_budget(100)
    search = await Project.objects.acreate(organization_id=caller.organization_id, name="Search")
    await sync_to_async(project_price_set)(caller.organization_id, search.pk, "100")
    in_search = replace(caller, project_id=search.pk)
    first, second = await ask(in_search, 500), await ask(caller, 50)
    assert await counted(caller) == {"spent": 0, "reserved": 100}
    for project_id, refused in ((in_search, 1), (caller, 1)):
        with pytest.raises(InsufficientQuota):
            await ask(project_id, refused)
    await end(in_search, first, 300)
    await end(caller, second, 20)
    assert await counted(caller) == {"spent": 50, "reserved": 0}
    await lose_redis()
    assert isinstance(await ask(in_search, 500), UUID)
    assert await counted(caller) == {"spent": 50, "reserved": 50}


def project_price_set(organization_id: UUID, project_id: UUID, price: str) -> None:
    """Since ever, which only a row can be: services let no price begin in the past."""
    Price.objects.create(
        organization_id=organization_id,
        project_id=project_id,
        model=factories.MODEL,
        kind="output",
        tiers=[{"from": 0, "price": price}],
        effective_from=BEGINNING,
    )
    clear_price_cache()


async def test_unused_part_of_a_reservation_is_released():
    caller = await caller_with_budget(100)
    first = await ask(caller, 100)
    with pytest.raises(InsufficientQuota):
        await ask(caller, 1)
    await end(caller, first, 30)
    await end(caller, await ask(caller, 70), 70)
    assert await counted(caller) == {"spent": 100, "reserved": 0}


async def test_reservation_is_released_when_the_generation_never_ran():
    caller = await caller_with_budget(100)
    await settle(generation_id=await ask(caller, 100), facts=None)
    assert await counted(caller) == {"spent": 0, "reserved": 0}


async def test_repeated_reservation_and_settlement_change_nothing():
    caller = await caller_with_budget(100)
    generation_id = await ask(caller, 60)
    for _ in range(2):  # a second process takes the generation up
        await reserve(
            principal=caller,
            generation_id=generation_id,
            model=factories.MODEL,
            input_tokens=0,
            max_output_tokens=60,
        )
    assert (await counted(caller))["reserved"] == 60
    facts = used(caller, generation_id, 40)
    await record(facts)
    for _ in range(3):
        await settle(generation_id=generation_id, facts=facts)
    assert await counted(caller) == {"spent": 40, "reserved": 0}


async def test_second_start_of_an_id_reserves_nothing():
    """A second start of the same id is refused, and must not undo the first one's reservation."""
    caller = await caller_with_budget(10)
    generation_id = uuid4()
    assert await ask_as(generation_id, caller, 6) is True
    assert await ask_as(generation_id, caller, 6) is False
    with pytest.raises(InsufficientQuota):
        await ask(caller, 5)


async def test_cancelled_settlement_completes():
    """Wherever the cancellation falls; half a settlement would leave a reservation behind."""
    caller = await caller_with_budget(1000)
    for yields in range(12):
        generation_id = await ask(caller, 50)
        settling = asyncio.create_task(settle(generation_id=generation_id, facts=None))
        for _ in range(yields):
            await asyncio.sleep(0)
        settling.cancel()
        await asyncio.gather(settling, return_exceptions=True)
        if yields == 0:  # it had not begun
            await settle(generation_id=generation_id, facts=None)
    assert await counted(caller) == {"spent": 0, "reserved": 0}


async def test_reservations_wait_when_all_connections_are_in_use():
    caller = await caller_with_budget(10_000)
    ids = await asyncio.gather(*(ask(caller, 1) for _ in range(4 * REQUESTS.connections)))
    assert len(set(ids)) == 4 * REQUESTS.connections


async def test_soft_budget_counts_and_refuses_nothing():
    caller = await caller_with_budget(10, is_hard=False)
    await end(caller, await ask(caller, 500), 500)
    assert (await counted(caller))["spent"] == 500


async def test_lost_counters_are_rebuilt_from_the_ledger():
    caller = await caller_with_budget(100)
    await end(caller, await ask(caller, 90), 90)
    await lose_redis()
    with pytest.raises(InsufficientQuota):
        await ask(caller, 11)
    await ask(caller, 10)
    assert (await counted(caller))["spent"] == 90


async def test_settlement_is_counted_once_when_a_rebuild_saw_its_record():
    caller = await caller_with_budget(100)
    generation_id = await ask(caller, 50)
    facts = used(caller, generation_id, 50)
    await record(facts)
    await lose_redis()
    await settle(generation_id=await ask(caller, 1), facts=None)  # rebuilds
    await settle(generation_id=generation_id, facts=facts)
    assert (await counted(caller))["spent"] == 50


async def test_settlement_while_the_counter_is_lost_is_counted_once():
    """It comes between the loss and the rebuild, whose snapshot may be older than its record."""
    caller = await caller_with_budget(100)
    generation_id = await ask(caller, 50)
    limits = await sync_to_async(organization_limits)(caller.organization_id)
    now = datetime.now(UTC)
    before = await sync_to_async(spent_by_limit)(limits, limits.limits, at=now)
    assert before[limits.limits[0]] == 0
    await lose_redis()
    await end(caller, generation_id, 50)
    await sync_to_async(rebuild_counters)(limits, limits.limits, at=now)
    assert (await counted(caller))["spent"] == 50
    for _ in range(2):  # and rebuilding again, with reservations open, changes nothing
        await ask(caller, 10)
        await sync_to_async(rebuild_counters)(limits, limits.limits, at=now)
    assert await counted(caller) == {"spent": 50, "reserved": 20}


async def test_rebuild_during_traffic_agrees_with_the_ledger():
    """Rebuilds race with reservations and settlements; at rest the counter is the ledger."""
    caller = await caller_with_budget(10_000)
    limits = await sync_to_async(organization_limits)(caller.organization_id)
    now = datetime.now(UTC)

    async def work() -> None:
        for _ in range(6):
            await end(caller, await ask(caller, 20), 7)

    async def disturb() -> None:
        for turn in range(8):
            if turn % 4 == 3:
                await lose_redis()
            await sync_to_async(rebuild_counters)(limits, limits.limits, at=now)

    await asyncio.gather(*(work() for _ in range(5)), disturb())
    assert (await counted(caller))["spent"] == 5 * 6 * 7


async def test_reservation_lapses_when_it_is_never_settled(monkeypatch, settings):
    monkeypatch.setattr("billing.budgets.inline.RESERVATION_MARGIN_S", 1)
    settings.GENERATION_TIMEOUT_S = 0
    caller = await caller_with_budget(100)
    await ask(caller, 100)
    await asyncio.sleep(1.05)
    await ask(caller, 100)
    assert (await counted(caller))["reserved"] == 100


async def test_budgets_of_key_project_and_organization_all_bind():
    caller = await caller_with_budget(1000)
    key = await sync_to_async(factories.key_of)(caller)
    await sync_to_async(budget_set)(
        principal=caller, amount=Decimal(10), is_hard=True, key_id=key.id
    )
    await sync_to_async(clear_limits_cache)(caller.organization_id)
    by_key = Principal(
        caller.organization_id, caller.project_id, caller.user_id, key.id, "member", caller.plan
    )
    with pytest.raises(InsufficientQuota, match="this key"):
        await ask(by_key, 11)
    await ask(caller, 11)
    await ask(by_key, 10)


async def test_usage_counts_in_the_month_in_which_it_ended():
    caller = await caller_with_budget(100)
    generation_id = await ask(caller, 100)
    facts = used(caller, generation_id, 100)
    last_month = datetime.now(UTC).replace(day=1) - timedelta(days=1)
    facts = factories.facts(
        caller, generation_id=generation_id, occurred_at=last_month, output_tokens=100
    )
    await record(facts)
    await settle(generation_id=generation_id, facts=facts)
    assert await counted(caller) == {"spent": 0, "reserved": 0}


async def test_model_without_a_price_runs():
    caller = await caller_with_budget(0)
    await reserve(
        principal=caller,
        generation_id=uuid4(),
        model="unpriced",
        input_tokens=10,
        max_output_tokens=10,
    )


async def unbound_caller() -> tuple[Principal, UUID]:
    """One whom no budget binds, and a generation of theirs."""
    await sync_to_async(prices_seed)(prices=PRICES)
    caller, generation_id = await sync_to_async(factories.principal)(), uuid4()
    found = await reserve(
        principal=caller,
        generation_id=generation_id,
        model=factories.MODEL,
        input_tokens=0,
        max_output_tokens=50,
    )
    assert found is Reservation.NONE
    return caller, generation_id


@sync_to_async
def reservations_looked_up() -> int:
    with redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True) as client:
        stats = client.info("commandstats")
    return int(stats.get("cmdstat_getdel", {}).get("calls", 0))


async def test_unbound_generation_ends_without_asking_redis():
    caller, generation_id = await unbound_caller()
    facts = used(caller, generation_id, 30)
    await record(facts)
    before = await reservations_looked_up()
    await settle(generation_id=generation_id, facts=facts, may_hold_reservation=False)
    assert await reservations_looked_up() == before
    await settle(generation_id=generation_id, facts=facts)
    assert await reservations_looked_up() == before + 1


async def test_budget_that_came_while_a_generation_ran_is_charged():
    caller, generation_id = await unbound_caller()
    await sync_to_async(budget_set)(principal=caller, amount=Decimal(100), is_hard=True)
    assert isinstance(await ask(caller, 10), UUID)  # its counter is there from now on
    facts = used(caller, generation_id, 30)
    await record(facts)
    await settle(generation_id=generation_id, facts=facts, may_hold_reservation=False)
    assert await counted(caller) == {"spent": 30, "reserved": 10}


async def test_reservation_is_at_the_dearest_price_of_its_lifetime() -> None:
    """A price that trebles at the full hour, before which the generation may not have ended."""
    caller = await caller_with_budget(100)
    hour = next_hour(datetime.now(UTC))
    await sync_to_async(prices_set)(
        model=factories.MODEL, prices={Kind.OUTPUT: (Tier(0, Decimal(3000)),)}, effective_from=hour
    )

    async def ask_before(seconds: int, tokens: int) -> UUID:
        generation_id = uuid4()
        await reserve(
            principal=caller,
            generation_id=generation_id,
            model=factories.MODEL,
            input_tokens=0,
            max_output_tokens=tokens,
            now=hour - timedelta(seconds=seconds),
        )
        return generation_id

    with pytest.raises(InsufficientQuota):
        await ask_before(5, 34)
    generation_id = await ask_before(5, 33)
    facts = replace(used(caller, generation_id, 33), occurred_at=hour + timedelta(seconds=5))
    await record(facts)
    await settle(generation_id=generation_id, facts=facts)
    assert (await counted(caller))["spent"] == 99
