"""Refunds and disputes take back what a payment gave, once; a dispute that is won restores it."""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from itertools import permutations
from typing import Any
from uuid import UUID

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.accounts.mail import mail_text
from backend.accounts.models import Mail
from backend.audit.models import AuditEvent
from backend.platform.errors import InsufficientQuota
from billing.budgets.credit import Debt, covered, credit_state
from billing.budgets.credit_services import credit_grant, expire_grants
from billing.invoices.closing import invoice_close
from billing.invoices.selectors import invoice_owed
from billing.models import BillingAccount, Collection, CreditEntry, Invoice, TopUp
from billing.payments import dunning
from billing.prices.services import prices_seed
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.paying import NOVEMBER, NOW, take
from tests.billing.test_budgets_inline import PRICES, ask
from tests.billing.test_credit import grants, hours
from tests.billing.test_dunning import owing, run_daily
from tests.billing.test_payments import begun
from tests.support import stripe_server
from tests.support.stripe_server import StripeServer

database = pytest.mark.django_db(transaction=True)
NIGHT = pytest.mark.nightly(
    beside="tests/billing/test_refunds.py"
    "::test_refund_that_fails_later_restores_its_credit_once_in_any_order_of_events"
)
SEEDS = [*range(4), *(pytest.param(seed, marks=NIGHT) for seed in range(4, 12))]


def refund(payment: str, cents: int, *, charge: str = "ch_1", **changes: Any) -> bytes:
    """`charge.refunded`: Stripe says what was refunded of the charge in all."""
    about = {"id": charge, "payment_intent": payment, "amount_refunded": cents, "currency": "usd"}
    return stripe_server.event("charge.refunded", {**about, **changes})


def one_refund(payment: str, number: int, cents: int, status: str, **changes: Any) -> bytes:
    """`refund.created`, or `refund.failed`: what is known of one refund."""
    kind = {"failed": "failed", "canceled": "updated"}.get(status, "created")
    about = {"id": f"re_{number}", "charge": "ch_1", "payment_intent": payment, "amount": cents}
    about |= {"currency": "usd", "status": status}
    return stripe_server.event(f"refund.{kind}", {**about, **changes})


def dispute(payment: str, cents: int, status: str = "needs_response", **changes: Any) -> bytes:
    kind = "created" if status.endswith("needs_response") else "closed"
    about = {"id": "dp_1", "payment_intent": payment, "amount": cents, "currency": "usd"}
    return stripe_server.event(f"charge.dispute.{kind}", {**about, "status": status, **changes})


def bought(stripe: StripeServer, amount: str = "25.00") -> TopUp:
    """A top-up that was paid."""
    top_up, session = begun(stripe, amount)
    take(stripe_server.event("checkout.session.completed", stripe.paid(session)))
    top_up.refresh_from_db()
    return top_up


def balance(organization_id: UUID) -> Decimal:
    ledger = sum(
        CreditEntry.objects.filter(organization_id=organization_id).values_list(
            "amount", flat=True
        ),
        Decimal(0),
    )
    state = credit_state(organization_id, at=NOW)
    assert state.remaining == ledger  # as long as all usage is on an invoice
    return ledger


def spend(organization_id: UUID, tokens: int) -> None:
    """Usage of so many USD in the last month but one of `bought`, on an invoice."""
    prices_seed(prices=PRICES)
    caller = factories.principal(organization=TopUp.objects.get().organization)
    assert caller.organization_id == organization_id
    with connection.cursor() as cursor:  # as if it had been bought before it was spent
        cursor.execute("ALTER TABLE billing_creditentry DISABLE TRIGGER append_only")
        cursor.execute("UPDATE billing_creditentry SET created_at = %s", [NOVEMBER.start])
        cursor.execute("ALTER TABLE billing_creditentry ENABLE TRIGGER append_only")
    used = factories.facts(
        caller,
        occurred_at=NOVEMBER.start + timedelta(days=1),
        input_tokens=0,
        cached_input_tokens=0,
        output_tokens=tokens,
    )
    with transaction.atomic():
        usage_record_create(facts=used)
    invoice_close(organization_id=organization_id, month=NOVEMBER, now=NOW)


# --- Of a top-up -----------------------------------------------------------------------------


@database
def test_refunds_are_taken_from_the_credit_by_their_sum_whatever_order_they_come_in(
    stripe: StripeServer,
) -> None:
    for number, order in enumerate(permutations(range(3))):
        top_up, session = begun(stripe)
        paid = stripe.paid(session)
        payment, charge = paid["payment_intent"], f"ch_{number}"
        events = [
            stripe_server.event("checkout.session.completed", paid),
            refund(payment, 700, charge=charge),  # 7.00, then 12.50 of it in all
            refund(payment, 1250, charge=charge),
        ]
        for which in (*order, *reversed(order)):
            take(events[which])
        assert balance(top_up.organization_id) == Decimal("12.50")
        top_up.refresh_from_db()
        assert top_up.taken_back == Decimal("12.50")


@database
@pytest.mark.parametrize("tells_failed_in_sum", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_refund_that_fails_later_restores_its_credit_once_in_any_order_of_events(
    stripe: StripeServer, seed: int, tells_failed_in_sum: bool
) -> None:
    """25.00 were paid; 7.00 refunded, which fails; 7.00 again; 5.50, which is canceled."""
    top_up, session = begun(stripe)
    paid = stripe.paid(session)
    payment = paid["payment_intent"]
    second_sum = 1400 if tells_failed_in_sum else 700
    events = [
        stripe_server.event("checkout.session.completed", paid),
        one_refund(payment, 1, 700, "succeeded"),
        refund(payment, 700),
        one_refund(payment, 1, 700, "failed"),
        one_refund(payment, 2, 700, "pending"),
        refund(payment, second_sum),
        one_refund(payment, 3, 550, "requires_action"),
        refund(payment, second_sum + 550),
        one_refund(payment, 3, 550, "canceled"),
        one_refund(payment, 2, 700, "succeeded"),
    ]
    sent = events * 2
    random.Random(seed).shuffle(sent)
    for event in sent:
        take(event)
    assert balance(top_up.organization_id) == Decimal("18.00")
    top_up.refresh_from_db()
    assert top_up.taken_back == Decimal("7.00")


@database
def test_customer_is_notified_that_their_refund_failed(stripe: StripeServer) -> None:
    top_up = bought(stripe)
    organization = top_up.organization_id
    BillingAccount.objects.create(organization_id=organization, email="money@example.org")
    assert take(refund(top_up.payment_id, 1000)) == "credit of -10.00 USD"
    assert take(one_refund(top_up.payment_id, 1, 1000, "failed")) == "credit of 10.00 USD"
    assert take(one_refund(top_up.payment_id, 1, 1000, "failed")) == "nothing"
    assert balance(organization) == 25
    mails = Mail.objects.filter(to="money@example.org", kind="payment").order_by("pk")
    assert "its refund failed at your bank" in mail_text(mails[1])
    assert len(mails) == 2


@database
def test_dispute_of_spent_credit_is_a_debt_that_blocks_until_it_is_won(
    stripe: StripeServer,
) -> None:
    top_up = bought(stripe)
    organization = top_up.organization_id
    BillingAccount.objects.create(organization_id=organization, email="money@example.org")
    spend(organization, 20)
    assert balance(organization) == 5
    assert take(dispute(top_up.payment_id, 2500)) == "credit of -25.00 USD"
    assert balance(organization) == -20
    [mail] = Mail.objects.filter(to="money@example.org", kind="payment")
    assert "25.00 USD of your payment" in mail_text(mail)
    credit_grant(organization_id=organization, amount=Decimal(50))
    assert balance(organization) == 30  # new credit makes it up
    for again in ("under_review", "won", "won", "needs_response"):
        take(dispute(top_up.payment_id, 2500, again))
    assert balance(organization) == 55
    kinds = list(CreditEntry.objects.order_by("pk").values_list("kind", "amount"))
    assert [kind for kind, _ in kinds] == ["grant", "debit", "refund", "grant", "restored"]
    assert Mail.objects.filter(to="money@example.org", kind="payment").count() == 2
    actions = AuditEvent.objects.filter(action__startswith="payment.").values_list("action")
    assert {action for (action,) in actions} == {"payment.reversed", "payment.restored"}


@database
@pytest.mark.parametrize("is_prepaid", [True, False])
async def test_negative_credit_refuses_requests_prepaid_or_not(
    stripe: StripeServer, is_prepaid: bool
) -> None:
    def in_debt() -> Any:
        top_up = bought(stripe)
        BillingAccount.objects.create(organization=top_up.organization, is_prepaid=is_prepaid)
        spend(top_up.organization_id, 20)
        caller = factories.principal(organization=top_up.organization)
        take(dispute(top_up.payment_id, 2500))
        return caller, top_up

    caller, top_up = await sync_to_async(in_debt)()
    for tokens in (0, 1):
        with pytest.raises(InsufficientQuota, match="prepaid credit"):
            await ask(caller, tokens)
    await sync_to_async(take)(dispute(top_up.payment_id, 2500, "won"))
    await ask(caller, 5)


@database
def test_lost_dispute_and_what_takes_no_money_change_nothing(stripe: StripeServer) -> None:
    top_up = bought(stripe)
    payment = top_up.payment_id
    assert take(dispute(payment, 2500, "warning_needs_response")) == "nothing"
    assert take(refund(payment, 0)) == "nothing"
    assert take(refund("pi_of_another_product", 100, charge="ch_9")).startswith("kept until")
    assert take(refund(payment, 100, charge="ch_8", currency="eur")).startswith("nothing")
    assert balance(top_up.organization_id) == 25
    for status in ("lost", "needs_response", "won"):  # what was decided stays decided
        take(dispute(payment, 2500, status))
    assert balance(top_up.organization_id) == 0
    assert not Mail.objects.filter(subject__contains="restored").exists()


@database
def test_concurrent_deliveries_take_the_credit_once(stripe: StripeServer) -> None:
    top_up, session = begun(stripe)
    paid = stripe.paid(session)
    bodies = [
        stripe_server.event("checkout.session.completed", paid),
        dispute(paid["payment_intent"], 2500),
        refund(paid["payment_intent"], 500),
        dispute(paid["payment_intent"], 2500),
    ]

    def deliver(number: int) -> None:
        try:
            take(bodies[number % len(bodies)])
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(deliver, range(16)))
    assert balance(top_up.organization_id) == -5
    assert CreditEntry.objects.count() == 3


@database
def test_credit_that_makes_up_a_debt_does_not_expire(stripe: StripeServer) -> None:
    top_up = bought(stripe)
    organization = top_up.organization_id
    spend(organization, 25)
    take(dispute(top_up.payment_id, 2500))
    later = NOW + timedelta(days=365)
    credit_grant(organization_id=organization, amount=Decimal(40), expires_at=later)
    for _ in range(2):
        expire_grants(organization, now=later)
    assert balance(organization) == 0
    [written_off] = CreditEntry.objects.filter(kind="expiry")
    assert written_off.amount == -15


debts = st.lists(st.builds(Debt, st.decimals("0.01", 500, places=2), hours), max_size=4)


@settings(deadline=None)
@given(grants(), debts)
def test_debts_take_what_there_is_and_no_more(granted: Any, owed: Any) -> None:
    left, debt = covered(granted, owed)
    before = sum(g.remaining for g in granted) - sum(d.amount for d in owed)
    assert sum(g.remaining for g in left) - debt == before
    assert all(0 <= now.remaining <= was.remaining for now, was in zip(left, granted, strict=True))


# --- Of an invoice ---------------------------------------------------------------------------


def charged(stripe: StripeServer) -> tuple[Invoice, str]:
    invoice = owing(card=True)
    run_daily(1)
    invoice.refresh_from_db()
    assert invoice.status == "paid"
    return invoice, Collection.objects.get(invoice=invoice).payment_id


@database
def test_disputed_invoice_is_open_for_what_was_taken_and_never_charged_by_itself(
    stripe: StripeServer,
) -> None:
    invoice, payment = charged(stripe)
    for _ in range(2):
        take(dispute(payment, 1000))
    late = stripe_server.event(
        "payment_intent.succeeded",
        {"id": payment, "amount_received": 3000, "currency": "usd",
         "metadata": {"parley_invoice": str(invoice.pk)}},
    )  # fmt: skip
    assert take(late) == "nothing: this payment was disputed since"
    invoice.refresh_from_db()
    assert (invoice.status, invoice_owed(invoice)) == ("open", Decimal(10))
    dunning.collect(now=NOW + timedelta(days=8))
    assert len(stripe.made("payment_intent")) == 1
    assert take(dispute(payment, 1000, "won")) == f"invoice {invoice} paid"
    invoice.refresh_from_db()
    assert (invoice.status, invoice_owed(invoice)) == ("paid", Decimal(0))


@database
def test_dispute_that_is_known_before_the_payment_opens_the_invoice(stripe: StripeServer) -> None:
    invoice = owing(card=False)
    Collection.objects.create(invoice=invoice, attempt=1, state="pending", payment_id="pi_x")
    assert take(dispute("pi_x", 3000)).startswith("kept until")
    take(
        stripe_server.event(
            "payment_intent.succeeded",
            {"id": "pi_x", "amount_received": 3000, "currency": "usd",
             "metadata": {"parley_invoice": str(invoice.pk)}},
        )
    )  # fmt: skip
    invoice.refresh_from_db()
    assert (invoice.status, invoice_owed(invoice)) == ("open", Decimal(30))


@database
def test_refunded_invoice_stays_paid_and_asks_for_a_credit_note(stripe: StripeServer) -> None:
    invoice, payment = charged(stripe)
    assert "credit note" in take(refund(payment, 1000))
    invoice.refresh_from_db()
    assert (invoice.status, CreditEntry.objects.count()) == ("paid", 0)
    assert Mail.objects.filter(kind="payment", to="money@example.org").count() == 1
