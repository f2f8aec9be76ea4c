"""Currencies: real digits, checked codes, and no change while amounts are counted in one."""

from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.test import Client

from backend.platform.errors import InvalidRequest
from billing.budgets.credit import credit_state
from billing.budgets.credit_services import credit_grant
from billing.models import (
    BillingAccount,
    Budget,
    CreditEntry,
    ModelCost,
    PlanPrice,
    Price,
    TopUp,
)
from billing.payments.services import top_up_begin
from billing.payments.stripe_currencies import from_smallest, minimum, smallest
from billing.prices.book import Tier
from billing.prices.services import prices_set
from billing.quantities import Kind
from billing.rounding import money, to_cents
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.paying import NOW, take
from tests.factories import UserFactory
from tests.support import stripe_server
from tests.support.database import triggers_resting
from tests.support.second_factor import staff_sign_in
from tests.support.stripe_server import StripeServer

pytestmark = pytest.mark.django_db(transaction=True)
ALL = ("USD", "JPY", "KWD", "BHD", "JOD", "OMR", "TND", "UGX", "ISK", "MGA", "HUF", "TWD", "LBP")


@pytest.mark.parametrize(
    ("amount", "currency", "counted"),
    [
        ("25.00", "USD", 2500),
        ("25.00", "KWD", 25_000),
        ("25.12", "TND", 25_120),
        ("25", "JPY", 25),
        ("25", "MGA", 25),
        ("25", "UGX", 2500),
        ("25", "ISK", 2500),
        ("25.50", "HUF", 2550),
        ("25.50", "TWD", 2550),
        ("25.50", "LBP", 2550),  # without digits in the CLDR, with two in ISO 4217
    ],
)
def test_stripe_counts_minor_units(amount: str, currency: str, counted: int) -> None:
    assert smallest(Decimal(amount), currency) == counted
    assert from_smallest(counted, currency.lower()) == Decimal(amount)


@pytest.mark.parametrize("currency", ALL)
def test_rounded_amounts_are_payable(currency: str) -> None:
    rounded = to_cents(Decimal("1234.56789"), currency)
    assert from_smallest(smallest(rounded, currency), currency) == rounded
    if currency in ("KWD", "BHD", "JOD", "OMR", "TND"):
        assert smallest(rounded, currency) % 10 == 0  # else Stripe refuses it


def test_amount_that_is_not_payable_is_refused() -> None:
    with pytest.raises(ValueError, match="not payable"):
        smallest(Decimal("10.50"), "JPY")


def test_money_is_written_with_its_digits() -> None:
    written = [money(Decimal("1234.5"), code) for code in ("USD", "KWD", "JPY", "ISK", "MGA")]
    assert written == [
        "1,234.50 USD", "1,234.500 KWD", "1,234 JPY", "1,234 ISK", "1,234 MGA",
    ]  # fmt: skip


def test_top_up_in_dinars_gives_what_was_paid(stripe: StripeServer) -> None:
    caller = factories.principal()
    BillingAccount.objects.create(organization_id=caller.organization_id, currency="KWD")
    _, url = top_up_begin(principal=caller, amount=Decimal("25.00"), now=NOW)
    session = stripe.objects[url.rsplit("/", 1)[1]]
    assert session["form"]["line_items[0][price_data][unit_amount]"] == "25000"
    take(stripe_server.event("checkout.session.completed", stripe.paid(session)))
    [entry] = CreditEntry.objects.all()
    assert (entry.amount, entry.currency) == (25, "KWD")


def test_top_up_is_at_least_stripes_minimum(stripe: StripeServer) -> None:
    caller = factories.principal()
    BillingAccount.objects.create(organization_id=caller.organization_id, currency="HUF")
    with pytest.raises(InvalidRequest, match="175") as refused:
        top_up_begin(principal=caller, amount=minimum("HUF") - 1, now=NOW)
    assert refused.value.param == "amount"
    top_up_begin(principal=caller, amount=minimum("HUF"), now=NOW)


# --- Codes -----------------------------------------------------------------------------------


def test_codes_are_stored_in_capitals() -> None:
    caller = factories.principal()
    account = BillingAccount.objects.create(
        organization_id=caller.organization_id, currency=" eur "
    )
    assert account.currency == "EUR"
    account.refresh_from_db()
    assert account.currency == "EUR"


@pytest.mark.parametrize("code", ["XYZ", "XAU", "EU", "", "€"])
def test_unknown_codes_are_refused_by_name(code: str) -> None:
    caller = factories.principal()
    tried = [
        lambda: BillingAccount.objects.create(
            organization_id=caller.organization_id, currency=code
        ),
        lambda: PlanPrice.objects.create(plan_id="free", amount=1, currency=code),
        lambda: ModelCost.objects.create(
            model="m", currency=code, input_per_1k=1, output_per_1k=1
        ),
        lambda: prices_set(
            model="m", prices={Kind.INPUT: (Tier(0, Decimal(1)),)}, currency=code,
            effective_from=datetime(2030, 1, 1, tzinfo=UTC),
        ),
    ]  # fmt: skip
    for attempt in tried:
        with pytest.raises(InvalidRequest) as refused:
            attempt()
        assert refused.value.param == "currency"


def test_stored_codes_become_capitals() -> None:
    """Prices and credit too, which are append-only."""
    organization_id = factories.principal().organization_id
    account = BillingAccount.objects.create(organization_id=organization_id)
    credit_grant(organization_id=organization_id, amount=Decimal(5))
    tiers = (Tier(0, Decimal(1)),)
    prices_set(
        model="m", prices={Kind.INPUT: tiers}, effective_from=datetime(2030, 1, 1, tzinfo=UTC)
    )
    kept = PlanPrice.objects.create(plan_id="free", amount=1, currency="USD")
    PlanPrice.objects.bulk_create([PlanPrice(plan_id="free", amount=2, currency="EUR")])
    with triggers_resting(), connection.cursor() as cursor:
        for table in ("billingaccount", "creditentry", "price"):
            cursor.execute(f"UPDATE billing_{table} SET currency = 'usd'")
        cursor.execute("UPDATE billing_planprice SET currency = 'usd' WHERE currency = 'EUR'")
    migration = import_module("billing.migrations.0035_currencies_are_iso_codes")
    with transaction.atomic(), connection.schema_editor() as editor:
        migration.capitals(apps, editor)
    account.refresh_from_db()
    assert account.currency == "USD"
    assert set(CreditEntry.objects.values_list("currency", flat=True)) == {"USD"}
    assert set(Price.objects.values_list("currency", flat=True)) == {"USD"}
    assert list(PlanPrice.objects.all()) == [kept]


# --- Another currency ------------------------------------------------------------------------


def change_in_admin(organization_id: Any, currency: str) -> str:
    """Change the currency as an operator does; the error of the form, or nothing."""
    client = Client()
    operator = UserFactory.create(is_staff=True, is_superuser=True)
    staff_sign_in(client, operator)
    answer = client.post(
        f"/admin/billing/billingaccount/{organization_id}/change/",
        {"organization": str(organization_id), "currency": currency},
    )
    if answer.status_code == 302:
        return ""
    return str(answer.context["adminform"].form.errors.get("currency"))


def paying_in_dollars() -> SimpleNamespace:
    caller = factories.principal()
    BillingAccount.objects.create(organization_id=caller.organization_id)
    return SimpleNamespace(caller=caller, id=caller.organization_id)


def currency_of(organization_id: Any) -> str:
    return BillingAccount.objects.get(organization_id=organization_id).currency


@pytest.mark.usefixtures("static_files")
def test_currency_changes_where_nothing_is_counted() -> None:
    organization = paying_in_dollars()
    assert change_in_admin(organization.id, "eur") == ""
    assert currency_of(organization.id) == "EUR"
    assert "ISO 4217" in change_in_admin(organization.id, "XYZ")


@pytest.mark.usefixtures("static_files")
@pytest.mark.parametrize("kept", ["credit", "top-up", "usage", "budget"])
def test_currency_stays_while_amounts_are_counted(kept: str) -> None:
    organization = paying_in_dollars()
    if kept == "credit":
        credit_grant(organization_id=organization.id, amount=Decimal(100))
    elif kept == "top-up":
        TopUp.objects.create(organization_id=organization.id, amount=5, currency="USD")
    elif kept == "usage":
        with transaction.atomic():
            usage_record_create(facts=factories.facts(organization.caller))
    else:
        Budget.objects.create(organization_id=organization.id, amount=100)
    assert kept in change_in_admin(organization.id, "KWD")
    assert currency_of(organization.id) == "USD"


def test_top_up_paid_late_is_credit_in_its_currency(stripe: StripeServer) -> None:
    caller = factories.principal()
    _, url = top_up_begin(principal=caller, amount=Decimal("25.00"), now=NOW)
    session = stripe.objects[url.rsplit("/", 1)[1]]
    take(stripe_server.event("checkout.session.expired", stripe.paid(session)))
    BillingAccount.objects.create(organization_id=caller.organization_id, currency="EUR")
    take(stripe_server.event("checkout.session.completed", stripe.paid(session)))
    [entry] = CreditEntry.objects.all()
    assert (entry.amount, entry.currency) == (25, "USD")
    assert credit_state(caller.organization_id, at=datetime.now(UTC)).remaining == 0
