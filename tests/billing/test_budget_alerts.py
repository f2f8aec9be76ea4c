"""Finance is alerted at 50, 80 and 100 %, once each a month, whatever is lost in between."""

import os
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import redis
from django.core import mail

from backend.platform.errors import NotFound, PermissionDenied
from billing.budgets.alerts import check_budgets
from billing.budgets.services import budget_delete, budget_set
from billing.models import Budget
from billing.prices.services import prices_seed
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.test_budgets_inline import PRICES

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller():
    prices_seed(prices=PRICES)
    return factories.principal()


def spend(caller, amount: int) -> None:
    usage_record_create(
        facts=factories.facts(caller, input_tokens=0, cached_input_tokens=0, output_tokens=amount)
    )
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.flushdb()  # nothing settled: counters must come from the ledger


def thresholds() -> list[int]:
    return [alert.threshold for alert in check_budgets()]


def test_each_threshold_is_alerted_once(caller):
    budget_set(principal=caller, amount=Decimal(100), is_hard=False)
    assert thresholds() == []
    spend(caller, 50)
    assert thresholds() == [50]
    assert thresholds() == []
    spend(caller, 29)
    assert thresholds() == []
    spend(caller, 50)
    assert thresholds() == [80, 100]
    assert thresholds() == []
    assert len(mail.outbox) == 2
    assert "100 %" in mail.outbox[1].subject
    assert "129.00 of 100.00" in mail.outbox[1].body


def test_thresholds_are_not_reached_at_the_start_of_a_month(caller):
    budget_set(principal=caller, amount=Decimal(100), is_hard=True)
    spend(caller, 60)
    assert thresholds() == [50]
    assert check_budgets(now=datetime.now(UTC) + timedelta(days=32)) == []


def test_budgets_are_set_by_managers_only():
    for role in ("owner", "admin", "finance"):
        budget_set(principal=factories.principal(role=role), amount=Decimal(1), is_hard=False)
    with pytest.raises(PermissionDenied):
        budget_set(principal=factories.principal(role="member"), amount=Decimal(1), is_hard=False)


def test_project_key_and_budget_of_another_organization_are_not_found(caller):
    other_user = factories.principal()
    key = factories.key_of(other_user)
    with pytest.raises(NotFound):
        budget_set(principal=caller, amount=Decimal(1), is_hard=True, key_id=key.id)
    with pytest.raises(NotFound):
        budget_set(
            principal=caller, amount=Decimal(1), is_hard=True, project_id=other_user.project_id
        )
    budget = budget_set(principal=other_user, amount=Decimal(1), is_hard=True)
    with pytest.raises(NotFound):
        budget_delete(principal=caller, budget_id=budget.pk)
    assert Budget.objects.count() == 1
