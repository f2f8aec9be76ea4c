"""Hard budgets and prepaid credit hold while one month becomes the next."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from asgiref.sync import sync_to_async

from backend.accounts.principal import Principal
from backend.platform.errors import InsufficientQuota
from billing.budgets import reserve, settle
from billing.periods import month_of
from tests.billing import factories
from tests.billing.test_budgets_inline import caller_with_budget, record
from tests.billing.test_credit import prepaid

pytestmark = pytest.mark.django_db(transaction=True)

NEW_MONTH = month_of(datetime.now(UTC)).end
BEFORE = NEW_MONTH - timedelta(seconds=2)
AFTER = NEW_MONTH + timedelta(seconds=2)


async def ask(caller: Principal, tokens: int, *, at: datetime) -> UUID:
    """Reserve 1 USD a token at a moment of the test's choice."""
    generation_id = uuid4()
    await reserve(
        principal=caller,
        generation_id=generation_id,
        model=factories.MODEL,
        input_tokens=0,
        max_output_tokens=tokens,
        now=at,
    )
    return generation_id


async def end(caller: Principal, generation_id: UUID, tokens: int, *, at: datetime) -> None:
    facts = factories.facts(
        caller,
        generation_id=generation_id,
        occurred_at=at,
        input_tokens=0,
        cached_input_tokens=0,
        output_tokens=tokens,
    )
    await record(facts)
    await settle(generation_id=generation_id, facts=facts)


async def test_credit_spent_in_the_old_month_is_not_available_again_in_the_new_one():
    caller = await sync_to_async(prepaid)(100)
    await end(caller, await ask(caller, 60, at=BEFORE), 60, at=BEFORE)
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 41, at=AFTER)
    await ask(caller, 40, at=AFTER)


async def test_open_reservation_of_the_old_month_holds_credit_in_the_new_one():
    caller = await sync_to_async(prepaid)(100)
    running = await ask(caller, 60, at=BEFORE)
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 41, at=AFTER)
    await end(caller, running, 50, at=AFTER)
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 51, at=AFTER)
    await ask(caller, 50, at=AFTER)


async def test_cost_of_the_old_month_recorded_after_the_border_reduces_the_credit():
    caller = await sync_to_async(prepaid)(100)
    running = await ask(caller, 60, at=BEFORE)
    await ask(caller, 10, at=AFTER)  # what is left of the credit is known by now
    await end(caller, running, 60, at=BEFORE)
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 31, at=AFTER)
    await ask(caller, 30, at=AFTER)


async def test_open_reservation_of_the_old_month_counts_against_the_new_budget():
    caller = await caller_with_budget(100)
    running = await ask(caller, 60, at=BEFORE)
    with pytest.raises(InsufficientQuota, match=r"100\.00 USD"):
        await ask(caller, 41, at=AFTER)
    await end(caller, running, 50, at=AFTER)
    with pytest.raises(InsufficientQuota, match=r"100\.00 USD"):
        await ask(caller, 51, at=AFTER)
    await ask(caller, 50, at=AFTER)


async def test_generation_that_ended_in_the_old_month_leaves_the_new_budget_whole():
    caller = await caller_with_budget(100)
    running = await ask(caller, 60, at=BEFORE)
    await ask(caller, 1, at=AFTER)
    await end(caller, running, 60, at=BEFORE)
    await ask(caller, 99, at=AFTER)
