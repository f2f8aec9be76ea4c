"""Counters of budgets and credit hold the long sums of currencies whose unit is worth little."""

import os
from datetime import UTC, datetime
from decimal import Decimal
from uuid import uuid4

import pytest
import redis
from asgiref.sync import sync_to_async

from backend.accounts.principal import Principal
from backend.platform.errors import InsufficientQuota
from billing.budgets import counters
from billing.budgets.alerts import check_budgets
from billing.budgets.credit_services import credit_grant
from billing.budgets.limits import organization_limits
from billing.budgets.services import budget_set
from billing.models import BillingAccount, BudgetAlert
from billing.prices.book import Tier
from billing.prices.services import BEGINNING, prices_set
from billing.quantities import Kind
from tests.billing import factories
from tests.billing.test_budgets_inline import ask, counted, end, lose_redis, record, used

pytestmark = pytest.mark.django_db(transaction=True)

LARGE = {"VND": Decimal(10**15), "IDR": Decimal(10**12)}
TOKENS = 2 * 10**9
"""How many cost such an amount."""


@sync_to_async
def caller_paying_in(currency: str, *, is_prepaid: bool = False) -> Principal:
    """An organization that may spend a large amount."""
    caller = factories.principal()
    BillingAccount.objects.create(
        organization_id=caller.organization_id, currency=currency, is_prepaid=is_prepaid
    )
    per_1000 = (Tier(0, LARGE[currency] * 1000 / TOKENS),)
    prices_set(
        model=factories.MODEL,
        prices={Kind.INPUT: per_1000, Kind.OUTPUT: per_1000},
        currency=currency,
        effective_from=BEGINNING,
    )
    if is_prepaid:
        credit_grant(organization_id=caller.organization_id, amount=LARGE[currency])
    else:
        budget_set(principal=caller, amount=LARGE[currency], is_hard=True)
    return caller


@pytest.mark.parametrize("currency", LARGE)
async def test_budget_holds_large_amounts(currency: str) -> None:
    caller = await caller_paying_in(currency)
    for _ in range(9):
        await end(caller, await ask(caller, TOKENS // 10), TOKENS // 10)
    await ask(caller, TOKENS // 10 - 1)
    assert await counted(caller) == {
        "spent": LARGE[currency] * 9 / 10,
        "reserved": LARGE[currency] / 10 - LARGE[currency] / TOKENS,
    }
    with pytest.raises(InsufficientQuota):
        await ask(caller, 2)
    await ask(caller, 1)
    await sync_to_async(check_budgets)()
    assert {alert.threshold async for alert in BudgetAlert.objects.all()} == {50, 80}


@pytest.mark.parametrize("currency", LARGE)
async def test_lost_counter_of_large_amounts_returns(currency: str) -> None:
    caller = await caller_paying_in(currency)
    await record(used(caller, uuid4(), TOKENS - 1))
    await lose_redis()
    await ask(caller, 1)
    with pytest.raises(InsufficientQuota):
        await ask(caller, 1)


async def test_credit_holds_large_amounts() -> None:
    caller = await caller_paying_in("VND", is_prepaid=True)
    await end(caller, await ask(caller, TOKENS // 2), TOKENS // 2)
    with pytest.raises(InsufficientQuota):
        await ask(caller, TOKENS // 2 + 1)
    await ask(caller, TOKENS // 2)


async def test_counter_of_another_unit_is_not_read() -> None:
    """Counters were once named without a currency and held 10^-9 of it."""
    caller = await caller_paying_in("VND")
    [limit] = (await sync_to_async(organization_limits)(caller.organization_id)).limits
    organization = f"billing:{{{caller.organization_id}}}"
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.hset(
            f"{organization}:{limit.name}:{datetime.now(UTC):%Y%m}",
            mapping={"spent": 9 * 10**18, "fresh_until": 10**10},
        )
    await ask(caller, TOKENS)


def test_small_amounts_round_against_the_customer() -> None:
    fraction = Decimal("0.0000001")
    for currency, unit in (("USD", Decimal("0.000001")), ("VND", Decimal("0.001"))):
        up, down = (
            counters.amount_of(rounded(1 + fraction, currency), currency)
            for rounded in (counters.amount_up, counters.amount_down)
        )
        assert (up, down) == (1 + unit, 1)
