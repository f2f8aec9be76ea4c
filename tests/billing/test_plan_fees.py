"""A plan's fee is on one invoice: each day of it once, whatever is closed when."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.accounts.models import Organization, Plan
from backend.platform.errors import RateLimited
from billing import tasks
from billing.invoices.closing import FeeCurrencyError, invoice_close
from billing.invoices.services import close_and_issue_month, invoice_issue, invoice_void
from billing.models import (
    BillingAccount,
    Invoice,
    InvoiceLine,
    InvoiceStatus,
    PlanPeriod,
    PlanPrice,
)
from billing.payments.plan_choice import MAX_CHANGES_AN_HOUR, plan_choose
from billing.periods import parse_period
from billing.plans import months_with_fees, plan_fees, replaced_periods_end
from tests.billing import factories

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 12, 3, tzinfo=UTC)
JUNE, JULY, AUGUST = (parse_period(name, now=NOW) for name in ("2026-06", "2026-07", "2026-08"))


def period(organization: Organization, amount: str, began: datetime, **fields: Any) -> PlanPeriod:
    return PlanPeriod.objects.create(
        organization=organization,
        plan_id="free",
        amount=Decimal(amount),
        currency="USD",
        began_at=began,
        **fields,
    )


def billed() -> list[tuple[str, str, Decimal, bool]]:
    """Of the invoices that count: the month of each, of each fee, and what it is."""
    lines = InvoiceLine.objects.exclude(invoice__status="void").order_by("pk")
    return [
        (f"{line.invoice.period_start:%m}", f"{line.usage_month:%m}", line.amount, line.is_late)
        for line in lines.select_related("invoice")
    ]


def test_change_of_plan_is_charged_for_the_time_held() -> None:
    organization = factories.organization_new()
    changed = JUNE.start + timedelta(days=10, hours=12)
    period(organization, "30", JUNE.start + timedelta(days=3), ended_at=changed)
    period(organization, "100", changed)
    invoice = invoice_close(organization_id=organization.pk, month=JUNE, now=NOW)
    assert invoice is not None
    assert [(line.model, line.amount) for line in invoice.lines.all()] == [
        ("Free, 7.5 of 30 days", Decimal("7.5")),
        ("Free, 19.5 of 30 days", Decimal(65)),
    ]
    assert invoice.subtotal == Decimal("72.50")
    july = invoice_close(organization_id=organization.pk, month=JULY, now=NOW)
    assert july is not None and july.subtotal == 100
    assert plan_fees(organization_id=organization.pk, month=JULY) == []


def test_months_that_no_run_has_closed_get_their_own_invoices(monkeypatch: Any) -> None:
    organization = factories.organization_new()
    period(organization, "30", JUNE.start)
    monkeypatch.setattr(
        tasks, "timezone", SimpleNamespace(now=lambda: datetime(2026, 9, 2, tzinfo=UTC))
    )
    for _ in range(2):
        tasks.close_month()
    assert billed() == [(f"0{n}", f"0{n}", Decimal(30), False) for n in (6, 7, 8)]
    assert months_with_fees(datetime(2026, 9, 2, tzinfo=UTC)) == []


def test_fee_of_a_voided_invoice_is_billed_again_once() -> None:
    organization = factories.organization_new()
    period(organization, "30", JUNE.start, ended_at=JUNE.end)
    invoice = invoice_close(organization_id=organization.pk, month=JUNE, now=NOW)
    assert invoice is not None
    invoice_issue(invoice_id=invoice.pk, now=NOW)
    invoice_void(invoice_id=invoice.pk, now=NOW)
    # Another month is closed first: it has the fee, marked, and the month itself no more.
    assert close_and_issue_month(month=AUGUST, now=NOW) == (1, [])
    assert close_and_issue_month(month=JUNE, now=NOW) == (0, [])
    assert billed() == [("08", "06", Decimal(30), True)]
    assert Invoice.objects.get(status="open").total == 30


def test_plan_that_an_operator_gave_ends_the_fee_of_the_chosen_one() -> None:
    organization = factories.organization_new()
    Plan.objects.get_or_create(
        slug="premium",
        defaults={"name": "Premium", "queue_priority": 0, "requests_per_minute": 1,
                  "tokens_per_minute": 1, "concurrent_generations": 1},
    )  # fmt: skip
    period(organization, "31", JULY.start)
    assert replaced_periods_end(JULY.start + timedelta(days=4)) == 0
    Organization.objects.update(plan_id="premium")
    assert replaced_periods_end(JULY.start + timedelta(days=4)) == 1
    fees = plan_fees(organization_id=organization.pk, month=AUGUST)
    assert [fee.amount for fee in fees] == [4]


def test_fee_in_another_currency_stops_the_close_and_says_why() -> None:
    organization = factories.organization_new()
    period(organization, "30", JUNE.start)
    BillingAccount.objects.create(organization=organization, currency="EUR")
    with pytest.raises(FeeCurrencyError, match="in USD, the organization pays in EUR"):
        invoice_close(organization_id=organization.pk, month=JUNE, now=NOW)
    issued, [problem] = close_and_issue_month(month=JUNE, now=NOW)
    assert issued == 0 and "EUR" in problem
    assert [invoice.status for invoice in Invoice.objects.all()] == [InvoiceStatus.CLOSING]


def test_fees_of_earlier_invoices_are_named_when_the_column_comes() -> None:
    """As the migration does it: no fee that was billed before it is billed again."""
    organization = factories.organization_new()
    changed = JUNE.start + timedelta(days=10)
    for began, ended in ((JUNE.start, changed), (changed, None)):
        period(organization, "30", began, ended_at=ended)
    assert invoice_close(organization_id=organization.pk, month=JUNE, now=NOW) is not None
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("ALTER TABLE billing_invoiceline DISABLE TRIGGER append_only")
        cursor.execute("UPDATE billing_invoiceline SET plan_period_id = NULL")
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
        cursor.execute("ALTER TABLE billing_invoiceline ENABLE TRIGGER append_only")
    assert len(plan_fees(organization_id=organization.pk, month=JUNE)) == 2
    migration = import_module("billing.migrations.0022_refunds")
    migration.name_periods(apps, SimpleNamespace(connection=connection))
    assert plan_fees(organization_id=organization.pk, month=JUNE) == []


@settings(deadline=None, max_examples=8)
@given(st.sets(st.integers(0, 91), max_size=5), st.permutations(range(3)))
def test_all_time_of_a_quarter_is_charged_once(changes: set[int], order: list[int]) -> None:
    """At a price of a unit a day, whenever the plan changes and in whichever order months close."""
    organization = factories.organization_new()
    moments = [JUNE.start + timedelta(days=day, hours=7) for day in sorted(changes)]
    for began, ended in zip([JUNE.start, *moments], [*moments, None], strict=True):
        # 3,100 a month is 100 a day in July and August; June has 30 days.
        period(organization, "3100", began, ended_at=ended)
    for number in order:
        close_and_issue_month(month=(JUNE, JULY, AUGUST)[number], now=NOW)
    lines = InvoiceLine.objects.filter(invoice__organization=organization)
    held = [Decimal(line.model.split(", ")[1].split(" of ")[0]) for line in lines]
    days = sum(held, Decimal(0))
    assert abs(days - (AUGUST.end - JUNE.start).days) <= Decimal("0.005") * len(lines)
    for month in (JUNE, JULY, AUGUST):
        of_month = lines.filter(usage_month=month.start.date())
        total = sum((line.amount for line in of_month), Decimal(0))
        assert abs(total - 3100) <= Decimal("1e-10")
    invoices = Invoice.objects.filter(organization=organization)
    assert sum(invoice.subtotal for invoice in invoices) == Decimal(9300)


def test_plan_of_the_day_without_its_midnights_is_paid() -> None:
    """Premium from 00:01 to 23:58 and free at midnight, each day."""
    organization = factories.organization_new()
    for day in range(30):
        began = JUNE.start + timedelta(days=day, minutes=1)
        ended = began + timedelta(hours=23, minutes=57)
        period(organization, "300", began, ended_at=ended)
        period(organization, "0", ended, ended_at=began + timedelta(days=1))
    fees = plan_fees(organization_id=organization.pk, month=JUNE)
    total = sum((fee.amount for fee in fees), Decimal(0))
    assert round(total, 2) == round(Decimal(300 * 1437) / 1440, 2)


def test_many_short_periods_do_not_round_to_nothing() -> None:
    """Half a cent each: rounded one by one they would cost nothing."""
    organization = factories.organization_new()
    for minute in range(60):
        began = JUNE.start + timedelta(minutes=minute)
        period(organization, "300", began, ended_at=began + timedelta(seconds=40))
    invoice = invoice_close(organization_id=organization.pk, month=JUNE, now=NOW)
    assert invoice is not None
    assert invoice.subtotal == Decimal("0.28")


def test_plan_changes_are_limited() -> None:
    caller = factories.principal()
    for slug in ("free", "standard"):
        PlanPrice.objects.update_or_create(
            plan_id=slug, currency="USD", defaults={"amount": Decimal(0)}
        )
    with pytest.raises(RateLimited):
        for number in range(MAX_CHANGES_AN_HOUR + 1):
            plan_choose(principal=caller, slug=("standard", "free")[number % 2], now=NOW)
    assert PlanPeriod.objects.count() == MAX_CHANGES_AN_HOUR
    plan_choose(
        principal=caller,
        slug=("standard", "free")[MAX_CHANGES_AN_HOUR % 2],
        now=NOW + timedelta(hours=1),
    )
