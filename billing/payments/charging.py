"""Charging an open invoice to the payment method on file, in attempts.

The protocol of an attempt, so that nobody pays what is not owed or pays twice:
1. under a lock of the invoice what is owed is read, and the attempt stored with amount and method;
   an invoice with a pending attempt cannot be voided;
2. the provider is asked, outside of any transaction, with the attempt's own idempotency key;
3. its answer is stored.
An attempt whose answer was lost is looked up at the provider. What the provider does not have is
charged again as stored, where that is still what is owed, and else given up.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

import structlog
from django.db import transaction

from billing.invoices.selectors import invoice_owed
from billing.models import (
    Collection,
    CollectionState,
    DocumentKind,
    Invoice,
    InvoiceStatus,
    PaymentCustomer,
    PaymentReversal,
    ReversalKind,
)
from billing.payments.invoice_mail import invoice_mail, refused_text
from billing.payments.port import Charge, InvoicePaid
from billing.payments.provider import is_configured, payment_provider
from billing.payments.reversals import payment_lock
from billing.payments.services import invoice_paid

log = structlog.get_logger(__name__)

CHARGE_AFTER = (timedelta(0), timedelta(days=3), timedelta(days=7), timedelta(days=12))
"""When an invoice is charged to the payment method on file, from its issue on."""


def invoice_charge(invoice_id: int, *, now: datetime) -> bool:
    """Make the next attempt, where one is due, or settle the one whose answer was lost.

    Raises: PaymentProviderFailed: it is not known whether the attempt succeeded.
    """
    if not is_configured():
        return False
    lost = Collection.objects.filter(
        invoice_id=invoice_id, state=CollectionState.PENDING, payment_id=""
    ).first()
    if lost is None:
        attempt = _begin(invoice_id, now)
        if attempt is not None:
            _end(attempt, _ask(attempt), now)
        return attempt is not None
    charge = _lookup(lost)
    if charge is None and _is_still_owed(lost):
        charge = _ask(lost)
    _end(lost, charge or Charge("", CollectionState.FAILED, "given up: its answer was lost"), now)
    return charge is not None


def is_below_minimum(invoice: Invoice, owed: Decimal) -> bool:
    """Return whether the amount owed is known to be below the provider's minimum."""
    if not is_configured():
        return False
    if owed < payment_provider().minimum(invoice.currency):
        return True
    refused = invoice.collections.filter(state=CollectionState.SMALL, amount__gte=owed)
    return refused.exists()


def invoice_lock(invoice_id: int) -> Invoice:
    """The invoice as it is now; it stays so until the transaction ends."""
    invoices = Invoice.objects.select_related("organization").select_for_update(of=("self",))
    return invoices.get(pk=invoice_id)


@transaction.atomic
def _begin(invoice_id: int, now: datetime) -> Collection | None:
    """Store the next attempt, where it is due."""
    invoice = invoice_lock(invoice_id)
    customer = _paying_customer(invoice)
    made = invoice.collections.count()
    owed = invoice_owed(invoice)
    if (
        invoice.kind != DocumentKind.INVOICE
        or invoice.status != InvoiceStatus.OPEN
        or invoice.issued_at is None
        or customer is None
        or made >= len(CHARGE_AFTER)
        or now < invoice.issued_at + CHARGE_AFTER[made]
        or not owed
        or is_below_minimum(invoice, owed)
        or invoice.collections.filter(state=CollectionState.PENDING).exists()
        # Who has disputed a charge is not charged again unasked.
        or PaymentReversal.objects.filter(invoice=invoice, kind=ReversalKind.DISPUTE).exists()
    ):
        return None
    return Collection.objects.create(
        invoice=invoice, attempt=made + 1, amount=owed, method_id=customer.method_id
    )


def _paying_customer(invoice: Invoice) -> PaymentCustomer | None:
    customers = PaymentCustomer.objects.filter(organization_id=invoice.organization_id)
    return customers.exclude(method_id="").first()


def _lookup(lost: Collection) -> Charge | None:
    customer = PaymentCustomer.objects.filter(organization_id=lost.invoice.organization_id).first()
    if customer is None:
        return None
    return payment_provider().charge_find(
        customer_id=customer.customer_id,
        invoice_id=lost.invoice_id,
        attempt=lost.attempt,
        since=lost.created_at,
    )


@transaction.atomic
def _is_still_owed(lost: Collection) -> bool:
    """Return whether the attempt's charge is what would be charged today."""
    invoice = invoice_lock(lost.invoice_id)
    customer, owed = _paying_customer(invoice), invoice_owed(invoice)
    if customer is None or not owed:
        return False
    if lost.amount is None:  # from before it was stored
        lost.amount, lost.method_id = owed, customer.method_id
        lost.save(update_fields=["amount", "method_id"])
    return (lost.amount, lost.method_id) == (owed, customer.method_id)


def _ask(attempt: Collection) -> Charge:
    invoice = attempt.invoice
    customer = PaymentCustomer.objects.get(organization_id=invoice.organization_id)
    assert attempt.amount is not None
    return payment_provider().invoice_charge(
        customer_id=customer.customer_id,
        method_id=attempt.method_id,
        invoice_id=invoice.pk,
        attempt=attempt.attempt,
        amount=attempt.amount,
        currency=invoice.currency,
    )


@transaction.atomic
def _end(attempt: Collection, charge: Charge, now: datetime) -> None:
    """Store what became of an attempt, unless an event has told meanwhile."""
    if charge.payment_id:
        payment_lock(charge.payment_id)
    invoice = invoice_lock(attempt.invoice_id)
    if Collection.objects.get(pk=attempt.pk).state != CollectionState.PENDING:
        return
    attempt.payment_id, attempt.error = charge.payment_id, charge.error[:300]
    if charge.state != CollectionState.PAID:
        attempt.state = charge.state
    attempt.save(update_fields=["payment_id", "state", "error"])
    if charge.state == CollectionState.PAID:
        amount = attempt.amount or invoice_owed(invoice)
        paid = InvoicePaid(invoice.pk, charge.payment_id, amount, invoice.currency.upper())
        invoice_paid(paid, now=now)
    elif charge.state == CollectionState.FAILED:
        log.info("invoice_charge_failed", invoice=str(invoice), error=charge.error)
        invoice_mail(invoice, partial(refused_text, error=charge.error))
    elif charge.state == CollectionState.SMALL:
        log.warning("invoice_below_minimum", invoice=str(invoice), amount=str(attempt.amount))
