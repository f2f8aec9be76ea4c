"""Prepaid credit: never spent twice, never below zero, never forgotten."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.platform.errors import InsufficientQuota, InvalidRequest
from billing.budgets.credit import (
    Grant,
    consume,
    credit_state,
    organizations_with_expired_credit,
)
from billing.budgets.credit_services import credit_grant, expire_grants
from billing.invoices.closing import invoice_close
from billing.models import BillingAccount, CreditEntry
from billing.periods import month_of
from billing.prices.services import prices_seed
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.test_budgets_inline import PRICES, ask, end, lose_redis

START = datetime(2026, 11, 1, tzinfo=UTC)
hours = st.integers(0, 60).map(lambda n: START + timedelta(hours=n))
amounts = st.decimals(0, 1000, places=6)


@st.composite
def grants(draw) -> list[Grant]:
    return [
        Grant(n, draw(amounts), draw(hours), draw(st.none() | hours))
        for n in range(draw(st.integers(0, 5)))
    ]


@settings(deadline=None)
@given(grants(), st.lists(st.tuples(hours, amounts), max_size=20))
def test_credit_is_never_overdrawn_and_every_cost_is_covered_once(granted, spending):
    result = consume(granted, sorted(spending))
    by_id = {grant.id: grant for grant in granted}
    assert all(0 < taken <= by_id[key].remaining for key, taken in result.taken.items())
    assert sum(result.taken.values()) + result.uncovered == sum(cost for _, cost in spending)


@settings(deadline=None)
@given(grants(), st.lists(st.tuples(hours, amounts), max_size=20), st.integers(0, 20))
def test_spending_in_two_parts_takes_the_same_credit(granted, spending, cut):
    """What a close debits now and the next close later is what one close would have debited."""
    spending.sort()
    first = consume(granted, spending[:cut])
    left = [
        Grant(g.id, g.remaining - first.taken.get(g.id, Decimal(0)), g.granted_at, g.expires_at)
        for g in granted
    ]
    second = consume(left, spending[cut:])
    whole = consume(granted, spending)
    assert first.uncovered + second.uncovered == whole.uncovered
    for grant in granted:
        in_parts = first.taken.get(grant.id, 0) + second.taken.get(grant.id, 0)
        assert in_parts == whole.taken.get(grant.id, 0)


def test_grant_that_expires_first_is_used_first():
    soon = Grant(1, Decimal(5), START, START + timedelta(hours=2))
    lasting = Grant(2, Decimal(5), START - timedelta(days=1))
    result = consume(
        [lasting, soon], [(START, Decimal(6)), (START + timedelta(hours=3), Decimal(1))]
    )
    assert result.taken == {1: Decimal(5), 2: Decimal(2)}


def prepaid(amount: int):
    prices_seed(prices=PRICES)
    caller = factories.principal()
    BillingAccount.objects.create(organization_id=caller.organization_id, is_prepaid=True)
    if amount:
        credit_grant(organization_id=caller.organization_id, amount=Decimal(amount))
    return caller


@pytest.mark.django_db(transaction=True)
async def test_prepaid_requests_are_refused_when_the_credit_is_used_up():
    caller = await sync_to_async(prepaid)(100)
    await end(caller, await ask(caller, 90), 60)
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 41)
    await lose_redis()
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 41)
    await ask(caller, 40)
    await sync_to_async(credit_grant)(organization_id=caller.organization_id, amount=Decimal(1))
    await ask(caller, 1)
    with pytest.raises(InsufficientQuota):
        await ask(caller, 1)


@pytest.mark.django_db(transaction=True)
async def test_prepaid_without_credit_runs_nothing():
    caller = await sync_to_async(prepaid)(0)
    with pytest.raises(InsufficientQuota):
        await ask(caller, 1)


@pytest.mark.django_db(transaction=True)
async def test_credit_that_expires_is_refused_within_a_second():
    caller = await sync_to_async(prepaid)(0)
    expires_at = datetime.now(UTC) + timedelta(seconds=4)
    await sync_to_async(credit_grant)(
        organization_id=caller.organization_id, amount=Decimal(100), expires_at=expires_at
    )
    await ask(caller, 1)
    await asyncio.sleep((expires_at - datetime.now(UTC)).total_seconds() + 1.1)
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 1)


@pytest.mark.django_db(transaction=True)
async def test_closing_a_month_leaves_the_credit_as_it_was():
    """A cost that was just settled is in the credit ledger then, and must not count twice."""
    caller = await sync_to_async(prepaid)(100)
    now = datetime.now(UTC)
    await end(caller, await ask(caller, 60), 60)
    month = month_of(now)
    await sync_to_async(invoice_close)(
        organization_id=caller.organization_id, month=month, now=month.end
    )
    with pytest.raises(InsufficientQuota, match="prepaid credit"):
        await ask(caller, 41)
    await ask(caller, 40)


@pytest.mark.django_db
class TestLedger:
    def test_remaining_credit_is_grants_less_usage(self):
        caller = prepaid(100)
        with transaction.atomic():
            usage_record_create(
                facts=factories.facts(caller, input_tokens=0, cached_input_tokens=0)
            )
        state = credit_state(caller.organization_id, at=datetime.now(UTC))
        assert state.remaining == 50

    def test_expired_credit_is_written_off_once_and_only_when_no_usage_waits_for_it(self):
        caller = prepaid(0)
        organization_id, now = caller.organization_id, datetime.now(UTC)
        credit_grant(
            organization_id=organization_id, amount=Decimal(80), expires_at=now + timedelta(days=1)
        )
        assert expire_grants(organization_id, now=now) == 0
        later = now + timedelta(days=2)
        assert organizations_with_expired_credit(now=later) == {organization_id}
        assert expire_grants(organization_id, now=later) == 1
        assert expire_grants(organization_id, now=later) == 0
        assert organizations_with_expired_credit(now=later) == set()
        assert credit_state(organization_id, at=later).remaining == 0
        assert sum(CreditEntry.objects.values_list("amount", flat=True)) == 0

        credit_grant(
            organization_id=organization_id, amount=Decimal(80), expires_at=now + timedelta(days=1)
        )
        usage_record_create(facts=factories.facts(caller))
        assert expire_grants(organization_id, now=later) == 0

    @pytest.mark.parametrize("amount", ["0", "-1", "0.001", "NaN"])
    def test_grants_are_positive_whole_cents(self, amount):
        with pytest.raises(InvalidRequest):
            credit_grant(organization_id=factories.uuid(1), amount=Decimal(amount))

    def test_entries_cannot_be_changed(self):
        prepaid(10)
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            CreditEntry.objects.update(amount=5)
