"""Finance's pages: the numbers are the invoices', and each role sees what it may."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.test import AsyncClient, Client
from django.urls import reverse

from backend.accounts.models import User
from billing.events import encode
from billing.invoices.services import close_and_issue_month
from billing.models import Budget, CreditEntry, Invoice, ModelCost, Price, UsageRecord
from billing.periods import month_of, parse_period
from billing.prices import Tier
from billing.prices.services import next_hour, prices_seed, prices_set
from billing.quantities import Kind
from billing.reports import export
from billing.reports.export import usage_csv
from billing.reports.figures import report
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.test_ingest import ingest, messages
from tests.support.second_factor import staff_sign_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
OCTOBER = month_of(datetime(2026, 10, 1, tzinfo=UTC))
NOW = datetime(2026, 12, 3, tzinfo=UTC)
PRICES = {factories.MODEL: {"input": "1", "cached_input": "0.5", "output": "2"}}


@pytest.fixture
def used():
    prices_seed(prices=PRICES)
    callers = [factories.principal(), factories.principal()]
    with transaction.atomic():
        records = [
            usage_record_create(
                facts=factories.facts(
                    callers[n % 2],
                    occurred_at=OCTOBER.start + timedelta(hours=20 * n),
                    output_tokens=n,
                )
            )
            for n in range(30)
        ]
    ingest(messages(*map(encode, records)))
    return callers


def staff(group: str | None, client: Client) -> Client:
    user = User.objects.create_user(f"{group}@example.com", is_staff=True)
    if group is not None:
        user.groups.add(Group.objects.get(name=group))
    staff_sign_in(client, user)
    return client


def test_report_of_a_closed_month_equals_its_invoices(used):
    close_and_issue_month(month=OCTOBER, now=NOW)
    figures = report(OCTOBER)
    lines = [line.amount for invoice in Invoice.objects.all() for line in invoice.lines.all()]
    assert figures.total.revenue == sum(lines)
    assert sum(row.revenue for row in figures.days) == sum(lines)
    assert sum(row.revenue for _, row in figures.organizations) == sum(lines)
    assert len(figures.days) == 31


def test_margin_needs_the_cost_of_every_model(used):
    assert report(OCTOBER).total.margin_percent is None
    ModelCost.objects.create(
        model=factories.MODEL, input_per_1k=Decimal("0.1"), output_per_1k=Decimal("0.2")
    )
    total = report(OCTOBER).total
    assert total.cost == (Decimal("0.1") * 3000 + Decimal("0.2") * sum(range(30))) / 1000
    assert total.margin_percent is not None
    assert 0 < total.margin_percent < 100


def test_new_cost_leaves_earlier_hours_unchanged(used):
    def estimate(price, **when):
        ModelCost.objects.create(
            model=factories.MODEL, input_per_1k=Decimal(0), output_per_1k=Decimal(price), **when
        )

    estimate("0.2")
    before = costs_by_day()
    middle = OCTOBER.start + timedelta(days=15)
    estimate("0.9", effective_from=middle)
    estimate("0.5", effective_from=middle)  # the later written one counts
    assert ModelCost.objects.count() == 3
    after = costs_by_day()
    for name, cost in before.items():
        day = datetime.fromisoformat(name).replace(tzinfo=UTC)
        assert after[name] == cost * (Decimal("2.5") if day >= middle else 1)
    assert report(OCTOBER).total.cost == sum(after.values())


def costs_by_day() -> dict[str, Decimal]:
    rows = report(OCTOBER).days
    return {row.name: row.cost for row in rows if row.cost is not None}


def test_costs_and_prices_outlive_their_author_and_never_change(used):
    author = User.objects.create_user("author@example.com")
    cost = ModelCost.objects.create(
        model="m", input_per_1k=Decimal(1), output_per_1k=Decimal(1), created_by=author
    )
    [price] = prices_set(
        model="m",
        prices={Kind.INPUT: (Tier(0, Decimal(1)),)},
        effective_from=next_hour(datetime.now(UTC)),
        by_user_id=author.pk,
    )
    author.delete()
    for row, change in ((cost, {"input_per_1k": Decimal(9)}), (price, {"tiers": None})):
        row.refresh_from_db()
        assert row.created_by is None
        with pytest.raises(IntegrityError), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(**change)
        with pytest.raises(IntegrityError), transaction.atomic():
            row.delete()


def test_usage_before_the_first_cost_has_no_margin(used):
    ModelCost.objects.create(
        model=factories.MODEL,
        input_per_1k=Decimal(1),
        output_per_1k=Decimal(1),
        effective_from=OCTOBER.start + timedelta(days=15),
    )
    assert report(OCTOBER).total.margin_percent is None


def test_report_lists_models_without_a_price(client):
    caller = factories.principal()
    with transaction.atomic():
        record = usage_record_create(
            facts=factories.facts(caller, model="odd", occurred_at=OCTOBER.start)
        )
    ingest(messages(encode(record)))
    page = staff("Finance", client).get(reverse("admin:billing_reports") + "?period=2026-10")
    assert b"odd (no price)" in page.content


def test_report_page_opens_for_any_period(used, client):
    url, finance = reverse("admin:billing_reports"), staff("Finance", client)
    for period in ("last_7_days", "last_30_days", "nonsense", ""):
        assert finance.get(url, {"period": period}).status_code == 200, period
    page = finance.get(url, {"period": "2026-10"})
    assert page.status_code == 200
    assert b"Top organizations" in page.content
    assert b"Acme" in page.content


@pytest.mark.parametrize(
    ("group", "status"), [("Finance", 200), ("Safety reviewers", 403), (None, 403)]
)
def test_report_is_shown_to_finance_only(client, group, status):
    assert staff(group, client).get(reverse("admin:billing_reports")).status_code == status


FINANCE_PAGES = [
    "usagerecord",
    "usagerollup",
    "outboxevent",
    "reconciliationrun",
    "price",
    "modelcost",
    "budget",
    "budgetalert",
    "billingaccount",
    "creditentry",
    "invoice",
    "webhookendpoint",
    "webhookdelivery",
    "abuseflag",
    "abusepolicy",
]


def test_finance_sees_every_list_and_others_do_not(used, client):
    finance, others = staff("Finance", client), staff("Safety reviewers", Client())
    for page in FINANCE_PAGES:
        url = reverse(f"admin:billing_{page}_changelist")
        assert finance.get(url).status_code == 200, page
        assert others.get(url).status_code == 403, page


def test_finance_never_sees_message_texts(client):
    finance = staff("Finance", client)
    for page in ("conversations_message", "conversations_conversation"):
        assert finance.get(reverse(f"admin:{page}_changelist")).status_code == 403


def test_finance_adds_a_price_and_cannot_change_one(client):
    prices_seed(prices=PRICES)
    finance = staff("Finance", client)
    url = reverse("admin:billing_price_add")
    soon = next_hour(datetime.now(UTC))
    form = {
        "organization": "",
        "model": factories.MODEL,
        "kind": "output",
        "currency": "USD",
        "tiers_text": "0: 3\n1000000: 2.5",
        "effective_from_0": f"{soon:%Y-%m-%d}",
        "effective_from_1": f"{soon:%H:%M:%S}",
        "note": "autumn",
    }
    assert finance.get(url).status_code == 200
    assert finance.post(url, form).status_code == 302
    price = Price.objects.get(note="autumn")
    assert price.tiers == [{"from": 0, "price": "3"}, {"from": 1000000, "price": "2.5"}]
    assert str(price.created_by) == "finance@example.com"
    past = finance.post(url, form | {"effective_from_0": "2026-01-01", "note": "late"})
    assert b"begins in the future" in past.content
    assert finance.post(url, form | {"tiers_text": "cheap"}).status_code == 200
    assert not Price.objects.filter(note="late").exists()
    change = reverse("admin:billing_price_change", args=[price.pk])
    assert b"2.5 from 1,000,000" in finance.get(change).content
    finance.post(change, form | {"note": "changed"})
    assert Price.objects.get(pk=price.pk).note == "autumn"
    assert finance.post(reverse("admin:billing_price_delete", args=[price.pk])).status_code == 403


def test_finance_sets_the_price_of_a_project_and_not_of_another_organizations(client):
    prices_seed(prices=PRICES)
    caller, other = factories.principal(), factories.principal()
    finance = staff("Finance", client)
    soon = next_hour(datetime.now(UTC))
    form = {
        "organization": caller.organization_id,
        "project": caller.project_id,
        "model": factories.MODEL,
        "kind": "output",
        "currency": "USD",
        "tiers_text": "3",
        "effective_from_0": f"{soon:%Y-%m-%d}",
        "effective_from_1": f"{soon:%H:%M:%S}",
        "note": "",
    }
    url = reverse("admin:billing_price_add")
    refused = finance.post(url, form | {"project": other.project_id})
    assert f"Project {other.project_id} is not one of this organization" in refused.content.decode()
    refused = finance.post(url, form | {"organization": ""})
    assert b"Name the organization whose project it is" in refused.content
    assert finance.post(url, form).status_code == 302
    [price] = Price.objects.exclude(organization=None)
    assert (price.organization_id, price.project_id) == (caller.organization_id, caller.project_id)
    shown = finance.get(reverse("admin:billing_price_changelist") + "?q=Default")
    assert b"Acme: Default" in shown.content


def test_finance_sets_a_budget_and_grants_credit(client):
    caller, other = factories.principal(), factories.principal()
    finance = staff("Finance", client)
    budget = {"organization": caller.organization_id, "project": "", "key": "", "amount": "10"}
    assert finance.post(reverse("admin:billing_budget_add"), budget).status_code == 302
    wrong = budget | {"project": other.project_id}
    page = finance.post(reverse("admin:billing_budget_add"), wrong)
    assert b"another organization" in page.content
    assert Budget.objects.count() == 1
    credit = {"organization": caller.organization_id, "amount": "25", "note": "welcome"}
    assert finance.post(reverse("admin:billing_creditentry_add"), credit).status_code == 302
    again = finance.post(reverse("admin:billing_creditentry_add"), credit)
    assert b"granted less than a minute ago" in again.content
    refused = finance.post(reverse("admin:billing_creditentry_add"), credit | {"amount": "-1"})
    assert refused.status_code == 200
    assert CreditEntry.objects.get().amount == 25


def test_finance_opens_downloads_and_pays_an_invoice(used, client):
    close_and_issue_month(month=OCTOBER, now=NOW)
    [invoice] = Invoice.objects.all()[:1]
    finance = staff("Finance", client)
    assert (
        finance.get(reverse("admin:billing_invoice_change", args=[invoice.pk])).status_code == 200
    )
    for kind, start in (("pdf", b"%PDF"), ("csv", b"invoice,")):
        url = reverse("admin:billing_invoice_document", args=[invoice.pk, kind])
        assert finance.get(url).content.startswith(start)
    pay = reverse("admin:billing_invoice_mark_paid", args=[invoice.pk])
    assert b"cannot be undone" in finance.get(pay).content
    assert Invoice.objects.get(pk=invoice.pk).status == "open"
    assert finance.post(pay).status_code == 302
    assert Invoice.objects.get(pk=invoice.pk).status == "paid"
    note = reverse("admin:billing_invoice_credit_note", args=[invoice.pk])
    assert finance.get(note).status_code == 200
    assert b"at most what is left" in finance.post(note, {"amount": "99999", "reason": "x"}).content
    assert finance.post(note, {"amount": "0.01", "reason": "x"}).status_code == 302
    assert staff("Support", Client()).post(pay).status_code == 403


@pytest.mark.django_db(transaction=True)
async def test_export_is_streamed_in_pages_and_complete(monkeypatch):
    """Page by page: what is in memory is one page, however many there are."""
    from asgiref.sync import sync_to_async

    monkeypatch.setattr(export, "PAGE", 50)
    await sync_to_async(_many_records)(110)
    chunks = [chunk.decode() async for chunk in usage_csv(start=OCTOBER.start, end=OCTOBER.end)]
    assert [chunk.count("\r\n") for chunk in chunks] == [1, 50, 50, 10]
    assert len({line.split(",")[2] for c in chunks[1:] for line in c.splitlines()}) == 110


def _many_records(count: int) -> None:
    caller = factories.principal()
    facts = factories.facts(caller, occurred_at=OCTOBER.start)
    UsageRecord.objects.bulk_create(
        UsageRecord(
            generation_id=factories.uuid(n),
            occurred_at=facts.occurred_at,
            organization_id=facts.organization_id,
            project_id=facts.project_id,
            user_id=facts.user_id,
            model=facts.model,
            input_tokens=1,
            output_tokens=1,
            state="completed",
            duration_ms=1,
        )
        for n in range(count)
    )


@pytest.mark.django_db(transaction=True)
async def test_export_is_streamed_to_permitted_staff_only():
    from asgiref.sync import sync_to_async

    await sync_to_async(_many_records)(3)
    await sync_to_async(Group.objects.get_or_create)(name="Finance")
    url = reverse("admin:billing_usage_export") + "?period=2026-10"
    client = AsyncClient()
    superuser = await sync_to_async(User.objects.create_user)(
        "superuser@example.com", is_staff=True, is_superuser=True
    )
    await sync_to_async(staff_sign_in)(client, superuser)
    response: Any = await client.get(url)
    assert response.streaming
    assert response.is_async
    body = b"".join([chunk async for chunk in response.streaming_content])
    assert body.count(b"\r\n") == 4
    no_group = await sync_to_async(User.objects.create_user)("nobody@example.com", is_staff=True)
    await sync_to_async(staff_sign_in)(client, no_group)
    assert (await client.get(url)).status_code == 403


def test_reports_accept_the_periods_of_the_api():
    assert parse_period("last_7_days", now=NOW).end == datetime(2026, 12, 4, tzinfo=UTC)
