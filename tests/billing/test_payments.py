"""Paying at a provider that speaks Stripe's API: each payment counts once."""

import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations
from typing import Any

import httpx
import pytest
from django.db import connection

from backend.accounts.mail import mail_text
from backend.accounts.models import Mail, Organization, Plan, User
from backend.accounts.principal import Principal
from backend.platform.database import in_database
from billing.invoices.closing import invoice_close
from billing.invoices.services import credit_note_create, invoice_issue
from billing.models import (
    BillingAccount,
    Collection,
    CreditEntry,
    Invoice,
    PaymentCustomer,
    PaymentEvent,
    PlanPeriod,
    PlanPrice,
    TopUp,
)
from billing.payments import dunning
from billing.payments.port import EventRefused, PaymentProviderFailed
from billing.payments.services import event_take, top_up_begin
from billing.periods import month_of
from billing.plans import plan_fees
from tests.api.asgi_client import AsgiClient
from tests.billing import factories
from tests.billing.api_users import api_user_new, in_process
from tests.factories import member
from tests.support import stripe_server
from tests.support.stripe_server import StripeServer

pytestmark = pytest.mark.django_db(transaction=True)
NOW = datetime(2026, 12, 3, tzinfo=UTC)
PASSWORD = "correct horse battery staple"
NOVEMBER = month_of(datetime(2026, 11, 1, tzinfo=UTC))


@pytest.fixture
def stripe(settings: Any) -> Iterator[StripeServer]:
    server = StripeServer()
    settings.STRIPE_SECRET_KEY = stripe_server.SECRET_KEY
    settings.STRIPE_WEBHOOK_SECRET = stripe_server.WEBHOOK_SECRET
    settings.STRIPE_URL = server.url
    settings.BILLING_DUNNING = True
    yield server
    server.stop()


@dataclass(frozen=True, slots=True)
class PageUser:
    """A signed-in member: no key opens what costs money."""

    principal: Principal
    http: AsgiClient


@asynccontextmanager
async def page_user(role: str) -> AsyncIterator[PageUser]:
    principal = await in_database(member, role=role, password=PASSWORD)
    user = await in_database(User.objects.get, pk=principal.user_id)
    async with AsgiClient() as http:
        assert (await http.sign_in(user.email, PASSWORD)).status_code == 200
        yield PageUser(principal, http)


@pytest.fixture
async def owner() -> AsyncIterator[PageUser]:
    async with page_user("owner") as user:
        yield user


def take(body: bytes, **signed: Any) -> str:
    return event_take(body=body, signature=stripe_server.signature(body, **signed), now=NOW)


def begun(stripe: StripeServer, amount: str = "25.00") -> tuple[TopUp, dict[str, Any]]:
    """A top-up and its checkout session."""
    top_up, url = top_up_begin(principal=factories.principal(), amount=Decimal(amount), now=NOW)
    return top_up, stripe.objects[url.rsplit("/", 1)[1]]


def credit_of(top_up: TopUp) -> list[Decimal]:
    entries = CreditEntry.objects.filter(organization_id=top_up.organization_id)
    return list(entries.values_list("amount", flat=True))


# --- Top-ups ---------------------------------------------------------------------------------


async def test_top_up_is_begun_paid_and_becomes_credit(
    stripe: StripeServer, owner: PageUser
) -> None:
    answer = await owner.http.post("/api/billing/top-ups", json={"amount": "25.00"})
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made["state"] == "pending"
    session = stripe.objects[made["url"].rsplit("/", 1)[1]]
    assert session["form"]["line_items[0][price_data][unit_amount]"] == "2500"
    body = stripe_server.event("checkout.session.completed", stripe.paid(session))
    headers = {"Stripe-Signature": stripe_server.signature(body)}
    async with httpx.AsyncClient(transport=in_process(), base_url="http://testserver") as outside:
        taken = await outside.post("/api/payments/stripe", content=body, headers=headers)
        assert taken.json() == {"effect": "credit of 25.00 USD"}
        forged = {"Stripe-Signature": stripe_server.signature(body, secret="whsec_other")}
        refused = await outside.post("/api/payments/stripe", content=body, headers=forged)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_signature")
    assert (await owner.http.get("/api/credit")).json()["remaining"] == "25.000000000000"
    [listed] = (await owner.http.get("/api/billing/top-ups")).json()["data"]
    assert (listed["id"], listed["state"]) == (made["id"], "paid")


def test_events_of_one_payment_give_credit_once_in_any_order(stripe: StripeServer) -> None:
    for order in permutations(range(3)):
        top_up, session = begun(stripe)
        events = [
            stripe_server.event("checkout.session.completed", stripe.paid(session)),
            stripe_server.event("payment_intent.succeeded", stripe.intent_of(session)),
            stripe_server.event("checkout.session.expired", stripe.paid(session)),
        ]
        for number in (*order, *reversed(order)):  # and each is delivered again
            take(events[number])
        assert credit_of(top_up) == [Decimal("25.00")]
        top_up.refresh_from_db()
        assert top_up.state == "paid"


def test_concurrent_deliveries_give_credit_once(stripe: StripeServer) -> None:
    top_up, session = begun(stripe)
    bodies = [
        stripe_server.event("checkout.session.completed", stripe.paid(session), event_id="evt_1"),
        stripe_server.event("payment_intent.succeeded", stripe.intent_of(session)),
    ]

    def deliver(number: int) -> str:
        try:
            return take(bodies[number % 2])
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        effects = list(pool.map(deliver, range(12)))
    assert credit_of(top_up) == [Decimal("25.00")]
    assert PaymentEvent.objects.count() == 2
    assert set(effects) == {"credit of 25.00 USD", "nothing: credit was given already"}


@pytest.mark.parametrize(
    "changes", [{"amount_total": 100}, {"currency": "eur"}, {"payment_status": "unpaid"}]
)
def test_payment_of_another_amount_gives_no_credit(
    stripe: StripeServer, changes: dict[str, Any]
) -> None:
    top_up, session = begun(stripe)
    take(stripe_server.event("checkout.session.completed", stripe.paid(session, **changes)))
    assert credit_of(top_up) == []


def test_unsigned_and_old_events_are_refused(stripe: StripeServer) -> None:
    top_up, session = begun(stripe)
    body = stripe_server.event("checkout.session.completed", stripe.paid(session))
    with pytest.raises(EventRefused):
        take(body, at=time.time() - 301)
    for signature in ("", "t=1", "nonsense", stripe_server.signature(body + b" ")):
        with pytest.raises(EventRefused):
            event_take(body=body, signature=signature, now=NOW)
    with pytest.raises(EventRefused):
        take(b"[]")
    assert credit_of(top_up) == []


@pytest.mark.parametrize("amount", ["4.99", "10000.01", "0", "-5", "5.001", "x"])
async def test_amount_out_of_bounds_is_named(
    stripe: StripeServer, owner: PageUser, amount: str
) -> None:
    answer = await owner.http.post("/api/billing/top-ups", json={"amount": amount})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "amount")
    assert stripe.asked == []


def test_provider_that_fails_leaves_no_credit_and_a_typed_error(stripe: StripeServer) -> None:
    stripe.fails = True
    with pytest.raises(PaymentProviderFailed):
        begun(stripe)
    assert not CreditEntry.objects.exists()


async def test_without_a_provider_pages_say_so(owner: PageUser) -> None:
    shown = (await owner.http.get("/api/billing")).json()
    assert (shown["is_configured"], shown["payment_method"], shown["plan"]) == (False, None, "free")
    for path, body in (("top-ups", {"amount": "5"}), ("payment-method", {})):
        answer = await owner.http.post(f"/api/billing/{path}", json=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (
            409,
            "payments_not_configured",
        )


async def test_member_and_other_organizations_see_no_payments(
    stripe: StripeServer, owner: PageUser
) -> None:
    made = (await owner.http.post("/api/billing/top-ups", json={"amount": "5"})).json()
    async with page_user("finance") as other:
        assert (await other.http.get("/api/billing/top-ups")).json()["data"] == []
        after = await other.http.get("/api/billing/top-ups", params={"after": made["id"]})
        assert after.status_code == 404
    async with page_user("member") as user:
        await refused_everywhere(user.http, 403)


async def test_key_opens_no_payments(stripe: StripeServer) -> None:
    owner = await api_user_new(role="owner")
    await refused_everywhere(owner.http, 401)
    await owner.http.aclose()


async def refused_everywhere(http: httpx.AsyncClient, status: int) -> None:
    for method, path in (
        ("GET", ""),
        ("POST", "/top-ups"),
        ("PUT", "/plan"),
        ("PATCH", "/details"),
    ):
        bodies: dict[str, Any] = {"/top-ups": {"amount": "5"}, "/plan": {"plan": "free"}}
        body = {"json": bodies.get(path, {})} if method != "GET" else {}
        refused = await http.request(method, f"/api/billing{path}", **body)
        assert refused.status_code == status, path


# --- Payment method and plan -----------------------------------------------------------------


async def test_plan_with_a_price_needs_a_payment_method_and_is_charged_by_the_day(
    stripe: StripeServer, owner: PageUser
) -> None:
    organization_id = owner.principal.organization_id

    def prices() -> None:
        plan, _ = Plan.objects.get_or_create(
            slug="standard",
            defaults={"name": "Standard", "queue_priority": 10, "requests_per_minute": 120,
                      "tokens_per_minute": 400_000, "concurrent_generations": 16},
        )  # fmt: skip
        PlanPrice.objects.create(plan=plan, amount=Decimal(30))
        PlanPrice.objects.create(plan_id="free", amount=Decimal(0))

    await in_database(prices)
    refused = await owner.http.put("/api/billing/plan", json={"plan": "standard"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "payment_method_missing")
    page = (await owner.http.post("/api/billing/payment-method")).json()["url"]
    session = stripe.paid(stripe.objects[page.rsplit("/", 1)[1]])
    await in_database(take, stripe_server.event("checkout.session.completed", session))
    shown = (await owner.http.put("/api/billing/plan", json={"plan": "standard"})).json()
    assert (shown["plan"], shown["payment_method"]) == ("standard", "Visa ···· 4242")
    assert [(p["slug"], p["amount"]) for p in shown["plans"]] == [
        ("free", "0.00"),
        ("standard", "30.00"),
    ]
    unknown = await owner.http.put("/api/billing/plan", json={"plan": "premium"})
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (404, "plan")

    def bill() -> list[tuple[str, Decimal]]:
        PlanPeriod.objects.update(began_at=NOVEMBER.start + timedelta(days=10, hours=8))
        invoice = dunning_invoice(organization_id)
        assert plan_fees(organization_id=organization_id, month=NOVEMBER)[0].amount == 20
        return list(invoice.lines.values_list("model", "amount"))

    assert await in_database(bill) == [("Standard, 20 of 30 days", Decimal(20))]
    assert (await owner.http.delete("/api/billing/payment-method")).status_code == 204
    assert (await owner.http.delete("/api/billing/payment-method")).status_code == 404
    assert ("POST", f"/v1/payment_methods/{stripe_server.CARD}/detach") in stripe.asked


async def test_billing_details_are_the_customers_to_change(owner: PageUser) -> None:
    path = "/api/billing/details"
    shown = (await owner.http.patch(path, json={"country": "DE", "legal_name": " Acme "})).json()
    assert (shown["details"]["country"], shown["details"]["legal_name"]) == ("DE", "Acme")
    for field, value in (("country", "Germany"), ("email", "no-address")):
        refused = await owner.http.patch(path, json={field: value})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, field)


# --- Dunning ---------------------------------------------------------------------------------


def dunning_invoice(organization_id: Any) -> Invoice:
    """The issued invoice of November."""
    draft = invoice_close(organization_id=organization_id, month=NOVEMBER, now=NOW)
    assert draft is not None
    return invoice_issue(invoice_id=draft.pk, now=NOW)


def owing(*, card: bool) -> Invoice:
    """An invoice of 30.00, of an organization with or without a card on file."""
    caller = factories.principal()
    organization_id = caller.organization_id
    PlanPeriod.objects.create(
        organization_id=organization_id, plan_id="free", amount=30, currency="USD",
        began_at=NOVEMBER.start,
    )  # fmt: skip
    BillingAccount.objects.create(organization_id=organization_id, email="money@example.org")
    if card:
        PaymentCustomer.objects.create(
            organization_id=organization_id, customer_id="cus_1", method_id=stripe_server.CARD
        )
    return dunning_invoice(organization_id)


def subjects() -> list[str]:
    return list(Mail.objects.order_by("pk").values_list("subject", flat=True))


def run_daily(days: int, start: datetime = NOW) -> None:
    for day in range(days):
        dunning.collect(now=start + timedelta(days=day))


def test_invoice_is_mailed_once_and_charged_to_the_card(stripe: StripeServer) -> None:
    invoice = owing(card=True)
    run_daily(3)
    invoice.refresh_from_db()
    assert invoice.status == "paid"
    [mail] = Mail.objects.filter(to="money@example.org")
    assert invoice.reference in mail.subject
    assert "30.00 USD" in mail_text(mail)
    [intent] = stripe.made("payment_intent")
    assert (intent["form"]["amount"], intent["form"]["off_session"]) == ("3000", "true")


def test_credit_note_is_taken_off_what_is_charged(stripe: StripeServer) -> None:
    invoice = owing(card=True)
    credit_note_create(invoice_id=invoice.pk, amount=Decimal(10), reason="An outage", now=NOW)
    run_daily(1)
    [intent] = stripe.made("payment_intent")
    assert intent["form"]["amount"] == "2000"
    invoice.refresh_from_db()
    assert invoice.status == "paid"


def test_without_dunning_invoices_are_mailed_and_no_more(
    stripe: StripeServer, settings: Any
) -> None:
    settings.BILLING_DUNNING = False
    invoice = owing(card=False)
    run_daily(60)
    assert len(subjects()) == 1
    assert Organization.objects.get(pk=invoice.organization_id).suspended_at is None


def test_refused_card_is_tried_four_times_then_warned_twice_then_suspended(
    stripe: StripeServer,
) -> None:
    stripe.decline = True
    invoice = owing(card=True)
    run_daily(60)
    tried = list(Collection.objects.values_list("attempt", "state"))
    assert tried == [(n, "failed") for n in (1, 2, 3, 4)]
    steps = {step.step: step.at for step in invoice.dunning.all()}
    assert list(steps) == ["issued", "due", "warning", "last_warning", "suspended"]
    assert steps["suspended"] - steps["last_warning"] >= timedelta(days=5)
    assert invoice.due_at is not None
    assert steps["warning"] >= invoice.due_at
    organization = Organization.objects.get(pk=invoice.organization_id)
    assert organization.suspended_at is not None

    paid = stripe_server.event(
        "payment_intent.succeeded",
        {"id": "pi_x", "amount_received": 3000, "currency": "usd",
         "metadata": {"parley_invoice": str(invoice.pk)}},
    )  # fmt: skip
    assert take(paid) == f"invoice {invoice.reference} paid"
    assert take(paid) == f"invoice {invoice.reference} paid"
    run_daily(1, start=NOW + timedelta(days=61))
    organization.refresh_from_db()
    assert organization.suspended_at is None


def test_suspension_waits_for_the_warnings_when_the_task_did_not_run_for_months(
    stripe: StripeServer,
) -> None:
    invoice = owing(card=False)
    late = NOW + timedelta(days=200)
    run_daily(4, start=late)
    assert Organization.objects.get(pk=invoice.organization_id).suspended_at is None
    run_daily(20, start=late + timedelta(days=4))
    at = {step.step: step.at for step in invoice.dunning.all()}
    assert at["suspended"] - at["last_warning"] >= timedelta(days=5)
    assert at["last_warning"] - at["warning"] >= timedelta(days=5)
    assert len([s for s in subjects() if "not paid" in s]) == 3


def test_charge_whose_answer_was_lost_is_not_made_twice(stripe: StripeServer) -> None:
    invoice = owing(card=True)
    Collection.objects.create(invoice=invoice, attempt=1)  # begun, and the process died
    run_daily(1)
    run_daily(1)
    assert len(stripe.made("payment_intent")) == 1
    invoice.refresh_from_db()
    assert invoice.status == "paid"
