"""An invoice is charged, then dunned in steps; a charge is made once."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from backend.accounts.mail import Attachment, mail_attachment, mail_text
from backend.accounts.models import Mail, Organization
from billing.invoices.pdf import invoice_pdf
from billing.invoices.services import credit_note_create
from billing.models import (
    BillingAccount,
    Collection,
    Invoice,
    PaymentCustomer,
    PlanPeriod,
)
from billing.payments import dunning
from tests.billing import factories
from tests.billing.paying import NOVEMBER, NOW, november_invoice, take
from tests.support import stripe_server
from tests.support.stripe_server import StripeServer

pytestmark = pytest.mark.django_db(transaction=True)


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
    return november_invoice(organization_id)


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
    assert mail_attachment(mail) == Attachment(f"{invoice.reference}.pdf", invoice_pdf(invoice))
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


def test_currency_without_cents_is_invoiced_and_charged_in_whole_units(
    stripe: StripeServer,
) -> None:
    caller = factories.principal()
    PlanPeriod.objects.create(
        organization_id=caller.organization_id, plan_id="free", amount=1000, currency="JPY",
        began_at=NOVEMBER.start + timedelta(days=13),
    )  # fmt: skip
    BillingAccount.objects.create(
        organization_id=caller.organization_id, currency="JPY", tax_rate=Decimal("0.1")
    )
    PaymentCustomer.objects.create(
        organization_id=caller.organization_id, customer_id="cus_1", method_id=stripe_server.CARD
    )
    invoice = november_invoice(caller.organization_id)
    assert (invoice.subtotal, invoice.tax, invoice.total) == (567, 57, 624)
    run_daily(1)
    [intent] = stripe.made("payment_intent")
    assert (intent["form"]["amount"], intent["form"]["currency"]) == ("624", "jpy")
    invoice.refresh_from_db()
    assert invoice.status == "paid"
