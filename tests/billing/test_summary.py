"""`usage_summary`: the ledger, priced, grouped as a page shows it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import transaction

from backend.platform.errors import InvalidRequest
from billing.models import BillingAccount
from billing.prices import Tier
from billing.prices.services import BEGINNING, prices_seed, prices_set
from billing.quantities import Kind
from billing.selectors import GROUPS, usage_summary
from billing.services import usage_record_create
from tests.billing import factories

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 10, 21, 12, tzinfo=UTC)


def use(caller, **changes):
    with transaction.atomic():
        usage_record_create(facts=factories.facts(caller, **{"occurred_at": NOON, **changes}))


def test_month_is_summed_and_priced():
    prices_seed(prices={factories.MODEL: {"input": "1", "cached_input": "0.5", "output": "2"}})
    caller = factories.principal()
    use(caller, reasoning_tokens=20, image_tokens=30)
    use(caller, occurred_at=NOON + timedelta(days=40))  # another month
    use(factories.principal())  # another organization
    total = usage_summary(organization_id=caller.organization_id, period="2026-10")
    assert (total.requests, total.input_tokens, total.output_tokens) == (1, 100, 50)
    assert (total.reasoning_tokens, total.image_tokens) == (20, 30)
    assert total.cost_usd == Decimal("0.080") + Decimal("0.010") + Decimal("0.100")


def test_days_come_in_order_and_without_gaps():
    caller = factories.principal()
    use(caller)
    rows = usage_summary(
        organization_id=caller.organization_id, period="2026-10", group_by="day"
    ).data
    assert [row.key for row in rows] == [f"2026-10-{day:02d}" for day in range(1, 32)]
    assert [row.output_tokens for row in rows if row.output_tokens] == [50]


def test_groups_have_names_including_the_page():
    caller = factories.principal()
    key = factories.key_of(caller, name="nightly")
    use(caller)
    use(caller, key_id=key.id, output_tokens=500)
    rows = usage_summary(
        organization_id=caller.organization_id, period="2026-10", group_by="key"
    ).data
    assert [(row.label.split(" (")[0], row.output_tokens) for row in rows] == [
        ("nightly", 500),
        ("Chat page", 50),
    ]


def test_summary_of_one_user_holds_their_usage_only():
    caller = factories.principal()
    use(caller)
    use(caller, user_id=factories.uuid(7))
    summary = usage_summary(
        organization_id=caller.organization_id, period="2026-10", user_id=caller.user_id
    )
    assert summary.requests == 1


def test_volume_tiers_count_from_the_beginning_of_the_month_whatever_the_period():
    tiers = (Tier(0, Decimal(1000)), Tier(150, Decimal(1)))
    flat = (Tier(0, Decimal(0)),)
    prices_set(
        model=factories.MODEL,
        prices={Kind.INPUT: tiers, Kind.CACHED_INPUT: flat, Kind.OUTPUT: flat},
        effective_from=BEGINNING,
    )
    caller = factories.principal()
    for day in (3, 21):
        use(caller, occurred_at=NOON.replace(day=day), cached_input_tokens=0)
    one_day = usage_summary(organization_id=caller.organization_id, period="2026-10-21")
    month = usage_summary(organization_id=caller.organization_id, period="2026-10")
    assert one_day.cost_usd == 50 * 1 + Decimal("0.001") * 50
    assert month.cost_usd == 100 + one_day.cost_usd


def test_usage_is_shown_in_euros_when_the_organization_pays_in_euros():
    """Nothing is converted: a dollar amount that nobody will be billed would be an invention."""
    prices_set(
        model=factories.MODEL,
        currency="EUR",
        prices={kind: (Tier(0, Decimal(1)),) for kind in (Kind.INPUT, Kind.OUTPUT)},
        effective_from=BEGINNING,
    )
    caller = factories.principal()
    BillingAccount.objects.create(organization_id=caller.organization_id, currency="EUR")
    use(caller, cached_input_tokens=0)
    summary = usage_summary(
        organization_id=caller.organization_id, period="2026-10", group_by="model"
    )
    for total in (summary, summary.data[0]):
        assert (total.currency, total.cost) == ("EUR", Decimal("0.15"))
        assert total.cost_usd is None


def test_total_is_the_same_however_grouped_when_a_kind_has_no_price():
    """What has a price costs it; the other tokens are free, and take nothing with them."""
    prices_set(
        model=factories.MODEL,
        prices={Kind.INPUT: (Tier(0, Decimal(1)),)},
        effective_from=BEGINNING,
    )
    caller = factories.principal()
    use(caller, output_tokens=0)
    use(caller, key_id=factories.key_of(caller).id)
    for group_by in (None, *GROUPS):
        summary = usage_summary(
            organization_id=caller.organization_id, period="2026-10", group_by=group_by
        )
        assert summary.cost == Decimal("0.2"), group_by


@pytest.mark.parametrize("period", ["2026", "2026-13", "2026-02-30", "last_0_days", "x" * 100, ""])
def test_invalid_period_is_refused(period):
    with pytest.raises(InvalidRequest):
        usage_summary(organization_id=factories.uuid(1), period=period)
