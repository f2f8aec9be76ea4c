"""Settlements that Redis missed, or counted twice, are made good from the ledger."""

import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from asgiref.sync import sync_to_async

from backend.platform.errors import InsufficientQuota
from billing.budgets import counters, reserve, settle
from billing.budgets.alerts import check_budgets
from billing.budgets.inline import RESERVATION_MARGIN_S
from billing.budgets.limits import organization_limits
from billing.budgets.spending import rebuild_counters
from billing.models import BudgetAlert
from tests.billing import factories
from tests.billing.test_budgets_inline import (
    ask,
    caller_with_budget,
    counted,
    end,
    record,
    used,
)

pytestmark = pytest.mark.django_db(transaction=True)


async def test_hard_budget_holds_after_lost_settlements():
    """Nine of ten settlements are lost; their reservations lapse minutes later."""
    caller = await caller_with_budget(100)
    await end(caller, await ask(caller, 10), 10)
    for _ in range(9):
        await record(used(caller, await ask(caller, 10), 10))
    assert (await counted(caller))["spent"] == 10
    lapsed = datetime.now(UTC) + timedelta(seconds=300 + RESERVATION_MARGIN_S + 1)
    with pytest.raises(InsufficientQuota):
        await reserve(
            principal=caller,
            generation_id=uuid4(),
            model=factories.MODEL,
            input_tokens=0,
            max_output_tokens=1,
            now=lapsed,
        )
    assert (await counted(caller))["spent"] == 100


async def test_late_settlement_is_counted_once_after_a_rebuild(monkeypatch):
    """Its process came back when the counter no longer remembered that it had counted it."""
    monkeypatch.setattr(counters, "RECENT_S", 1)
    monkeypatch.setattr("billing.budgets.spending._RECENT", timedelta(seconds=1))
    caller = await caller_with_budget(100)
    generation_id = await ask(caller, 40)
    facts = used(caller, generation_id, 40)
    await record(facts)
    await settle(generation_id=generation_id, facts=facts)
    time.sleep(1.1)
    await settle(generation_id=generation_id, facts=facts)
    assert (await counted(caller))["spent"] == 80, "forgotten, so counted again"
    limits = await sync_to_async(organization_limits)(caller.organization_id)
    await sync_to_async(rebuild_counters)(limits, limits.limits, at=datetime.now(UTC))
    assert (await counted(caller))["spent"] == 40


async def test_soft_budget_alerts_after_a_lost_settlement():
    """Nothing is asked any more that would find its counter too old."""
    caller = await caller_with_budget(100, is_hard=False)
    await record(used(caller, await ask(caller, 100), 100))
    later = datetime.now(UTC) + timedelta(seconds=counters.FRESH_S + 1)
    await sync_to_async(check_budgets)(now=later)
    thresholds = [alert.threshold async for alert in BudgetAlert.objects.order_by("threshold")]
    assert thresholds == [50, 80, 100]
    assert (await counted(caller))["spent"] == Decimal(100)
