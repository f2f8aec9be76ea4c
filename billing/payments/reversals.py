"""Refunds and disputes: what the provider takes back of a payment, and at times restores.

A row holds what is known of each, another number what of it has had its effect. The difference is
applied once the payment is known, under a lock of the payment: so events that are repeated, late
or in another order do what each does once. A refund that fails at the customer's bank, weeks later
at times, gives back what it took. Of a top-up it is taken from the credit, which may go
below zero; an invoice whose payment was disputed is open again, and is not charged by itself.
"""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

import structlog

from backend.accounts.mail import mail_queue
from backend.audit.actions import Action
from backend.audit.services import SYSTEM, record
from backend.platform.database import transaction_lock
from backend.platform.languages import writing_in
from billing.accounts import finance_contacts
from billing.budgets.credit_services import credit_correct
from billing.invoices.services import invoice_pay, invoice_reopen
from billing.models import (
    Collection,
    CollectionState,
    Invoice,
    InvoiceStatus,
    PaymentReversal,
    ReversalKind,
    SurplusPayment,
    TopUp,
    TopUpState,
)
from billing.payments.port import PaymentDisputed, PaymentRefunded, RefundKnown
from billing.payments.reversal_mail import reversal_text
from billing.payments.surplus import surplus_refunded

log = structlog.get_logger(__name__)


def payment_lock(payment_id: str) -> None:
    """One at a time may learn of a payment, or of what was taken back of it, until its transaction
    ends. Taken before any row."""
    transaction_lock(f"billing.payment.{payment_id}")


def payment_refunded(event: PaymentRefunded, *, now: datetime) -> str:
    """Within the caller's transaction; what it changed."""
    row = _refunds_of(event)
    # Of several refunds each event has the sum so far: an older one that comes late has less.
    row.amount = max(row.amount, event.amount)
    row.save(update_fields=["amount"])
    return _applied(row, now)


def refund_known(event: RefundKnown, *, now: datetime) -> str:
    """Within the caller's transaction; what it changed. What failed stays failed."""
    row = _refunds_of(event)
    before = row.refunds.get(event.refund_id, {"failed": False})
    row.refunds[event.refund_id] = {
        "amount": str(event.amount),
        "failed": before["failed"] or event.has_failed,
    }
    known = [(Decimal(one["amount"]), one["failed"]) for one in row.refunds.values()]
    # The provider's own sum may leave out what failed, or not have reached us yet.
    row.amount = max(row.amount, sum((amount for amount, _ in known), Decimal(0)))
    row.failed = sum((amount for amount, has_failed in known if has_failed), Decimal(0))
    row.save(update_fields=["refunds", "amount", "failed"])
    return _applied(row, now)


def _refunds_of(event: PaymentRefunded | RefundKnown) -> PaymentReversal:
    """The row of the refunded charge, under `payment_lock`."""
    payment_lock(event.payment_id)
    row, _ = PaymentReversal.objects.get_or_create(
        reference=event.charge_id,
        defaults={
            "kind": ReversalKind.REFUND,
            "payment_id": event.payment_id,
            "amount": event.amount,
            "currency": event.currency,
        },
    )
    return row


def payment_disputed(event: PaymentDisputed, *, now: datetime) -> str:
    """Within the caller's transaction; what it changed. What was decided stays decided."""
    payment_lock(event.payment_id)
    row, _ = PaymentReversal.objects.get_or_create(
        reference=event.dispute_id,
        defaults={
            "kind": ReversalKind.DISPUTE,
            "payment_id": event.payment_id,
            "amount": event.amount,
            "currency": event.currency,
        },
    )
    if not row.is_closed and event.is_won is not None:
        row.is_closed, row.is_won = True, event.is_won
        row.save(update_fields=["is_closed", "is_won"])
    return _applied(row, now)


def reversals_apply(payment_id: str, *, now: datetime) -> None:
    """What was taken back of a payment before it was known here. Under `payment_lock`."""
    for row in PaymentReversal.objects.filter(payment_id=payment_id).order_by("pk"):
        _applied(row, now)


def is_disputed(payment_id: str) -> bool:
    """Whether an invoice that it paid is open again because of a dispute."""
    return PaymentReversal.objects.filter(
        payment_id=payment_id, kind=ReversalKind.DISPUTE, applied__gt=0
    ).exists()


def _applied(row: PaymentReversal, now: datetime) -> str:
    change = row.in_force - row.applied
    if not change:
        return "nothing"
    if row.kind == ReversalKind.REFUND:
        surplus = surplus_refunded(row.payment_id, row.in_force, now=now)
        if surplus is not None:
            return _refund_of_surplus(row, surplus)
    top_up = (
        TopUp.objects.select_for_update()
        .filter(payment_id=row.payment_id, state=TopUpState.PAID)
        .first()
    )
    if top_up is not None:
        return _correct_credit(row, top_up, change)
    collection = Collection.objects.filter(
        payment_id=row.payment_id, invoice__status__in=[InvoiceStatus.OPEN, InvoiceStatus.PAID]
    ).first()
    if collection is None:
        return "kept until its payment is known"
    invoice = Invoice.objects.select_for_update().get(pk=collection.invoice_id)
    return _correct_invoice(row, invoice, change, now)


def _refund_of_surplus(row: PaymentReversal, surplus: SurplusPayment) -> str:
    """It had paid for nothing, so nothing changes but what is to be refunded."""
    row.applied, row.organization_id = row.in_force, surplus.organization_id
    row.save(update_fields=["applied", "organization"])
    return f"{row.applied} of {surplus} refunded"


def _correct_credit(row: PaymentReversal, top_up: TopUp, change: Decimal) -> str:
    if row.currency != top_up.currency or top_up.credit is None:
        log.error("payment_reversed_otherwise", reversal=row.pk, top_up_id=str(top_up.pk))
        return f"nothing: {row.currency} was taken back, not {top_up.currency}"
    credit_correct(grant=top_up.credit, amount=-change, note=f"{row.kind} {row.pk}"[:200])
    top_up.taken_back += change
    top_up.save(update_fields=["taken_back"])
    row.applied, row.top_up, row.organization_id = row.in_force, top_up, top_up.organization_id
    row.save(update_fields=["applied", "top_up", "organization"])
    _tell(row, top_up.organization_id, change)
    return f"credit of {-change} {row.currency}"


def _correct_invoice(row: PaymentReversal, invoice: Invoice, change: Decimal, now: datetime) -> str:
    if row.kind == ReversalKind.REFUND:
        # Giving money back is the seller's decision; the document of it is a credit note.
        log.warning("invoice_refunded", invoice=str(invoice), amount=str(change))
        what = "was refunded" if change > 0 else "was not refunded after all"
        effect = f"nothing: a credit note for invoice {invoice} says what {what}"
    elif change > 0 and invoice.status != InvoiceStatus.PAID and not is_disputed(row.payment_id):
        return "kept until its payment is known"
    else:
        effect = _decide(row, invoice, change, now)
    row.applied, row.invoice, row.organization_id = row.in_force, invoice, invoice.organization_id
    row.save(update_fields=["applied", "invoice", "organization"])
    _tell(row, invoice.organization_id, change)
    return effect


def _decide(row: PaymentReversal, invoice: Invoice, change: Decimal, now: datetime) -> str:
    """Open it for what was taken back, or close it again where nothing is any more."""
    charge = Collection.objects.filter(invoice=invoice, payment_id=row.payment_id)
    if change > 0:
        if invoice.status == InvoiceStatus.PAID:
            invoice_reopen(invoice_id=invoice.pk)
        charge.update(state=CollectionState.FAILED, error="disputed")
        return f"invoice {invoice} open again"
    others = PaymentReversal.objects.filter(
        payment_id=row.payment_id, kind=ReversalKind.DISPUTE, applied__gt=0
    )
    if others.exclude(pk=row.pk).exists():
        return f"less is open of invoice {invoice}"
    if invoice.status != InvoiceStatus.OPEN:
        log.error("invoice_paid_twice", invoice=str(invoice), reversal=row.pk)
        return f"nothing: invoice {invoice} was paid again meanwhile"
    invoice_pay(invoice_id=invoice.pk, now=now)
    charge.update(state=CollectionState.PAID, error="")
    return f"invoice {invoice} paid"


def _tell(row: PaymentReversal, organization_id: UUID, change: Decimal) -> None:
    for contact in finance_contacts(organization_id):
        with writing_in(contact.language):
            subject, text = reversal_text(row, change)
            mail_queue(to=contact.email, kind="payment", subject=subject, text=text)
    record(
        Action.PAYMENT_REVERSED if change > 0 else Action.PAYMENT_RESTORED,
        organization_id=organization_id,
        actor=SYSTEM,
        target=("payment_reversal", row.pk),
        details={"kind": row.kind, "amount": str(abs(change)), "currency": row.currency},
    )
