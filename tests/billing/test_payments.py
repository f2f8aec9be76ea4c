"""Paying at a provider that speaks Stripe's API: each payment counts once."""

import json
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import permutations
from typing import Any

import httpx
import pytest
from django.db import connection

from backend.accounts.models import Plan, User
from backend.accounts.principal import Principal
from backend.platform.database import in_database
from billing.models import (
    CreditEntry,
    PaymentEvent,
    PlanPeriod,
    PlanPrice,
    TopUp,
)
from billing.payments.port import EventRefused, PaymentProviderFailed
from billing.payments.services import event_take, top_up_begin
from billing.plans import plan_fees
from tests.api.asgi_client import AsgiClient
from tests.billing import factories
from tests.billing.api_users import api_user_new, in_process
from tests.billing.paying import NOVEMBER, NOW, november_invoice, take
from tests.factories import member
from tests.support import stripe_server
from tests.support.stripe_server import StripeServer

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "correct horse battery staple"


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


def test_thin_event_is_taken_and_changes_nothing(stripe: StripeServer) -> None:
    """It names what changed and does not hold it; refused, Stripe would send it for days."""
    body = {"id": "evt_thin", "object": "v2.core.event", "type": "v1.billing.meter.no_meter_found"}
    about = {"id": "mtr_1", "type": "billing.meter", "url": "/v1/billing/meters/mtr_1"}
    assert take(json.dumps({**body, "related_object": about}).encode()) == "nothing"


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


async def test_plan_with_a_price_needs_a_method_and_is_charged(
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
        PlanPeriod.objects.update(began_at=NOVEMBER.start + timedelta(days=10))
        assert plan_fees(organization_id=organization_id, month=NOVEMBER)[0].amount == 20
        invoice = november_invoice(organization_id)
        assert plan_fees(organization_id=organization_id, month=NOVEMBER) == []
        return list(invoice.lines.values_list("model", "amount"))

    assert await in_database(bill) == [("Standard, 20 of 30 days", Decimal(20))]
    assert (await owner.http.delete("/api/billing/payment-method")).status_code == 204
    assert (await owner.http.delete("/api/billing/payment-method")).status_code == 404
    assert ("POST", f"/v1/payment_methods/{stripe_server.CARD}/detach") in stripe.asked


async def test_billing_details_are_the_customers_to_change(owner: PageUser) -> None:
    path = "/api/billing/details"
    shown = (await owner.http.patch(path, json={"country": "DE", "legal_name": " Acme "})).json()
    assert (shown["details"]["country"], shown["details"]["legal_name"]) == ("DE", "Acme")
    spoken = (await owner.http.patch(path, json={"language": "zh-CN"})).json()
    assert (spoken["details"]["language"], spoken["details"]["country"]) == ("zh-CN", "DE")
    for field, value in (("country", "Germany"), ("email", "no-address"), ("language", "tlh")):
        refused = await owner.http.patch(path, json={field: value})
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, field)
