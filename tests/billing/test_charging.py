"""An invoice is charged what is owed at that moment, and each attempt leaves what became of it."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Group
from structlog.testing import capture_logs

from backend.accounts.mail import mail_text
from backend.accounts.models import Mail, Organization
from backend.platform.errors import Conflict
from billing.invoices.services import credit_note_create, invoice_pay, invoice_void
from billing.models import (
    Collection,
    Invoice,
    PaymentCustomer,
    PlanPeriod,
    SurplusPayment,
)
from billing.payments import dunning
from billing.payments.charging import invoice_charge
from billing.payments.port import PaymentProviderFailed
from billing.payments.stripe_api import StripeProvider
from tests.billing import factories
from tests.billing.paying import NOVEMBER, NOW, november_invoice, take
from tests.billing.test_dunning import owing, run_daily, subjects
from tests.billing.test_refunds import refund
from tests.factories import UserFactory
from tests.support import stripe_server
from tests.support.stripe_server import StripeServer

pytestmark = pytest.mark.django_db(transaction=True)


def owing_another(amount: str = "30") -> Invoice:
    """An invoice of another organization with a card."""
    caller = factories.principal()
    PlanPeriod.objects.create(
        organization_id=caller.organization_id, plan_id="free", amount=Decimal(amount),
        currency="USD", began_at=NOVEMBER.start,
    )  # fmt: skip
    PaymentCustomer.objects.create(
        organization_id=caller.organization_id, customer_id="cus_2", method_id=stripe_server.CARD
    )
    return november_invoice(caller.organization_id)


def paid_event(invoice: Invoice, payment: str, cents: int = 3000) -> bytes:
    about = {"id": payment, "amount_received": cents, "currency": "usd"}
    about["metadata"] = {"parley_invoice": str(invoice.pk)}
    return stripe_server.event("payment_intent.succeeded", about)


def attempts(invoice: Invoice) -> list[tuple[int, str]]:
    return list(invoice.collections.order_by("attempt").values_list("attempt", "state"))


def status_of(invoice: Invoice) -> str:
    return Invoice.objects.get(pk=invoice.pk).status


# --- What is owed at that moment ---------------------------------------------------------------


@pytest.mark.parametrize("how", ["void", "paid by bank transfer"])
def test_invoice_settled_during_a_run_is_not_charged(
    stripe: StripeServer, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    first, second = owing(card=True), owing_another()
    charge = StripeProvider.invoice_charge

    def slow(self: StripeProvider, **asked: Any) -> Any:
        """Stripe takes its seconds; meanwhile an operator acts."""
        if asked["invoice_id"] == first.pk:
            (invoice_void if how == "void" else invoice_pay)(invoice_id=second.pk, now=NOW)
        return charge(self, **asked)

    monkeypatch.setattr(StripeProvider, "invoice_charge", slow)
    dunning.collect(now=NOW)
    charged = [each["metadata"]["parley_invoice"] for each in stripe.made("payment_intent")]
    assert charged == [str(first.pk)]
    assert attempts(second) == []


def test_invoice_that_is_being_charged_cannot_be_voided(stripe: StripeServer) -> None:
    invoice = owing(card=True)
    Collection.objects.create(invoice=invoice, attempt=1, amount=30)
    with pytest.raises(Conflict, match="being charged"):
        invoice_void(invoice_id=invoice.pk, now=NOW)


def test_attempt_stores_amount_and_method(stripe: StripeServer) -> None:
    invoice = owing(card=True)
    run_daily(1)
    attempt = Collection.objects.get(invoice=invoice)
    assert (attempt.amount, attempt.method_id) == (30, stripe_server.CARD)


# --- Lost answers ----------------------------------------------------------------------------


def lose_an_answer(stripe: StripeServer, invoice: Invoice) -> None:
    stripe.loses_answers = True
    with pytest.raises(PaymentProviderFailed):
        invoice_charge(invoice.pk, now=NOW)
    stripe.loses_answers = False
    assert attempts(invoice) == [(1, "pending")]


@pytest.mark.parametrize("declined", [False, True])
def test_lost_answer_is_asked_for(stripe: StripeServer, declined: bool) -> None:
    """Whatever changed since: the card, or what is owed."""
    invoice = owing(card=True)
    stripe.decline = declined
    lose_an_answer(stripe, invoice)
    PaymentCustomer.objects.update(method_id="pm_other")
    credit_note_create(invoice_id=invoice.pk, amount=Decimal(10), reason="An outage", now=NOW)
    assert invoice_charge(invoice.pk, now=NOW)
    assert attempts(invoice) == [(1, "failed" if declined else "paid")]
    assert status_of(invoice) == ("open" if declined else "paid")
    assert len(stripe.made("payment_intent")) == (0 if declined else 1)
    surplus = list(SurplusPayment.objects.values_list("amount", flat=True))
    assert surplus == ([] if declined else [10])


def test_attempt_unknown_to_stripe_is_given_up_when_less_is_owed(stripe: StripeServer) -> None:
    invoice = owing(card=True)
    Collection.objects.create(
        invoice=invoice, attempt=1, amount=30, method_id=stripe_server.CARD
    )  # stored, and the process died before it asked
    credit_note_create(invoice_id=invoice.pk, amount=Decimal(10), reason="An outage", now=NOW)
    invoice_charge(invoice.pk, now=NOW)
    assert attempts(invoice) == [(1, "failed")]
    run_daily(4)
    [intent] = stripe.made("payment_intent")
    assert intent["form"]["amount"] == "2000"


def test_event_that_comes_before_the_answer_settles_the_attempt(stripe: StripeServer) -> None:
    invoice = owing(card=True)
    lose_an_answer(stripe, invoice)
    [intent] = stripe.made("payment_intent")
    assert take(paid_event(invoice, intent["id"])) == f"invoice {invoice.reference} paid"
    run_daily(2)
    assert attempts(invoice) == [(1, "paid")]
    assert not SurplusPayment.objects.exists()


# --- Refusals --------------------------------------------------------------------------------


def test_refused_request_is_a_failed_charge(stripe: StripeServer) -> None:
    """Such as a payment method that Stripe does not have any more."""
    invoice = owing(card=True)
    stripe.cards.clear()
    run_daily(40)
    assert attempts(invoice) == [(n, "failed") for n in (1, 2, 3, 4)]
    mails = [mail for mail in Mail.objects.all() if "could not be charged" in mail.subject]
    assert len(mails) == 4
    assert "No such PaymentMethod" in mail_text(mails[0])


def test_amount_below_the_minimum_never_suspends(stripe: StripeServer) -> None:
    invoice = owing_another("0.30")
    run_daily(60)
    assert attempts(invoice) == []
    assert list(invoice.dunning.values_list("step", flat=True)) == ["issued"]
    assert Organization.objects.get(pk=invoice.organization_id).suspended_at is None


def test_amount_that_stripe_calls_too_small_never_suspends(
    stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The minimum of some currencies follows exchange rates and is told only when asked."""
    monkeypatch.setattr(StripeProvider, "minimum", lambda self, currency: Decimal(0))
    invoice = owing_another("0.30")
    run_daily(60)
    assert attempts(invoice) == [(1, "small")]
    assert len(subjects()) == 1
    assert Organization.objects.get(pk=invoice.organization_id).suspended_at is None


# --- Credited and paid twice -------------------------------------------------------------------


def test_organization_credited_in_full_is_reinstated(stripe: StripeServer) -> None:
    stripe.decline = True
    invoice = owing(card=True)
    run_daily(60)
    organization = Organization.objects.get(pk=invoice.organization_id)
    assert organization.suspended_at is not None
    credit_note_create(invoice_id=invoice.pk, amount=Decimal(30), reason="Our mistake", now=NOW)
    assert status_of(invoice) == "paid"
    run_daily(1, start=NOW + timedelta(days=61))
    organization.refresh_from_db()
    assert organization.suspended_at is None


@pytest.fixture
def treasurer() -> str:
    user = UserFactory.create(is_staff=True)
    user.groups.add(Group.objects.get(name="Finance"))
    return user.email


@pytest.mark.parametrize("how", ["second payment", "void invoice"])
def test_payment_for_nothing_is_to_be_refunded(
    stripe: StripeServer, treasurer: str, how: str
) -> None:
    invoice = owing(card=False)
    if how == "void invoice":
        invoice_void(invoice_id=invoice.pk, now=NOW)
    else:
        take(paid_event(invoice, "pi_1"))
        assert take(paid_event(invoice, "pi_1")) == "nothing: paid already"
    with capture_logs() as logs:
        assert take(paid_event(invoice, "pi_2")).startswith("to be refunded")
        take(paid_event(invoice, "pi_2"))
    assert [each["event"] for each in logs if each["log_level"] == "error"] == [
        "payment_to_be_refunded"
    ]
    surplus = SurplusPayment.objects.get()
    assert (surplus.payment_id, surplus.amount, surplus.refunded_at) == ("pi_2", 30, None)
    [mail] = Mail.objects.filter(to=treasurer)
    assert "to be refunded" in mail.subject

    take(refund("pi_2", 3000))
    surplus.refresh_from_db()
    assert surplus.refunded_at == NOW
    assert status_of(invoice) == ("void" if how == "void invoice" else "paid")
