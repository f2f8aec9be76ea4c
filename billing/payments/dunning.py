"""Issued invoices until they are paid: mailed, charged, reminded of, and at last the suspension.

Beat runs `collect` every hour. Each step of an invoice is a row, written with the mail that it
sends, so it happens once; steps happen in their order and each waits for the one before it, so
that nobody is suspended who was not warned twice, `_BEFORE_SUSPENSION` ahead, however long the
task did not run.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy

from backend.accounts.mail import Attachment, mail_queue
from backend.accounts.operator_models import SuspensionCause
from backend.accounts.suspension import reinstate_organization, suspend_organization
from backend.platform import languages
from backend.platform.errors import Conflict
from billing.accounts import finance_contacts
from billing.invoices.pdf import invoice_pdf
from billing.invoices.selectors import invoice_owed
from billing.models import (
    Collection,
    CollectionState,
    DocumentKind,
    DunningStep,
    Invoice,
    InvoiceStatus,
    PaymentCustomer,
    PaymentReversal,
    ReversalKind,
)
from billing.payments.port import InvoicePaid, PaymentProviderFailed
from billing.payments.provider import is_configured, payment_provider
from billing.payments.reversals import payment_lock
from billing.payments.services import invoice_paid
from billing.plans import replaced_periods_end
from billing.rounding import money

_Text = Callable[[Invoice], tuple[str, str]]
"""Subject and text of a mail about an invoice, in the language that it is called in."""

log = structlog.get_logger(__name__)

CHARGE_AFTER = (timedelta(0), timedelta(days=3), timedelta(days=7), timedelta(days=12))
"""When an invoice is charged to the payment method on file, from its issue on."""
_BEFORE_SUSPENSION = timedelta(days=5)
# step, how long after the due date, how long after the step before it
STEPS: tuple[tuple[str, timedelta, timedelta], ...] = (
    ("due", timedelta(0), timedelta(0)),
    ("warning", timedelta(days=7), timedelta(days=2)),
    ("last_warning", timedelta(days=14), _BEFORE_SUSPENSION),
    ("suspended", timedelta(days=14) + _BEFORE_SUSPENSION, _BEFORE_SUSPENSION),
)
_TEXTS = {
    "due": gettext_lazy("It is due today."),
    "warning": gettext_lazy(
        "It is overdue. If it stays unpaid, your organization will be suspended."
    ),
    "last_warning": gettext_lazy(
        "It is long overdue. In five days your organization will be suspended: its"
        " API keys will be refused and its members will not be able to chat."
    ),
}


def collect(*, now: datetime) -> dict[str, int]:
    """Do what is due with every issued invoice. Returns how many mails, charges, suspensions and
    reinstatements there were."""
    replaced_periods_end(now)
    done = {"mailed": 0, "charged": 0, "stepped": 0, "reinstated": 0}
    for invoice in _documents_to_mail():
        done["mailed"] += _step(invoice, "issued", now, _issued_text)
    for invoice in _unpaid():
        try:
            done["charged"] += _charge(invoice, now)
        except PaymentProviderFailed as error:
            log.warning("invoice_not_charged", invoice=str(invoice), error=str(error))
        done["stepped"] += _remind(invoice, now)
    for organization_id in _suspended_and_paid():
        done["reinstated"] += _reinstate(organization_id)
    return done


def _documents_to_mail() -> list[Invoice]:
    """Issued, and not mailed yet. Those of before this began are not mailed again."""
    return list(
        Invoice.objects.exclude(status__in=[InvoiceStatus.DRAFT, InvoiceStatus.VOID])
        .exclude(series="")
        .exclude(dunning__step="issued")
        .select_related("organization")
        .order_by("pk")[:1000]
    )


def _unpaid() -> list[Invoice]:
    return list(
        Invoice.objects.filter(kind=DocumentKind.INVOICE, status=InvoiceStatus.OPEN, total__gt=0)
        .exclude(series="")
        .select_related("organization")
        .order_by("pk")
    )


def _charge(invoice: Invoice, now: datetime) -> bool:
    """Charge the payment method on file, where the next attempt is due."""
    if not is_configured() or invoice.issued_at is None:
        return False
    customer = (
        PaymentCustomer.objects.filter(organization_id=invoice.organization_id)
        .exclude(method_id="")
        .first()
    )
    collections = Collection.objects.filter(invoice=invoice)
    attempt = (collections.aggregate(last=Max("attempt"))["last"] or 0) + 1
    pending = collections.filter(state=CollectionState.PENDING).first()
    if pending is not None and not pending.payment_id:
        attempt = pending.attempt  # begun, and its answer was lost: the same charge again
    elif pending is not None or attempt > len(CHARGE_AFTER):
        return False
    if PaymentReversal.objects.filter(invoice=invoice, kind=ReversalKind.DISPUTE).exists():
        return False  # who has disputed a charge is not charged again unasked
    owed = invoice_owed(invoice)
    if customer is None or not owed or now < invoice.issued_at + CHARGE_AFTER[attempt - 1]:
        return False
    collection, _ = Collection.objects.get_or_create(invoice=invoice, attempt=attempt)
    charge = payment_provider().invoice_charge(
        customer_id=customer.customer_id,
        method_id=customer.method_id,
        invoice_id=invoice.pk,
        attempt=attempt,
        amount=owed,
        currency=invoice.currency,
    )
    with transaction.atomic():
        payment_lock(charge.payment_id)
        collection.payment_id, collection.state = charge.payment_id, charge.state
        collection.error = charge.error[:300]
        collection.save(update_fields=["payment_id", "state", "error"])
        if charge.state == CollectionState.PAID:
            paid = InvoicePaid(invoice.pk, charge.payment_id, owed, invoice.currency)
            invoice_paid(paid, now=now)
        elif charge.state == CollectionState.FAILED:
            _mail(invoice, partial(_refused_text, error=charge.error))
    invoice.refresh_from_db(fields=["status"])
    return True


def _remind(invoice: Invoice, now: datetime) -> bool:
    """The next step, where it is due."""
    if not settings.BILLING_DUNNING or invoice.due_at is None or not invoice_owed(invoice):
        return False
    taken = dict(DunningStep.objects.filter(invoice=invoice).values_list("step", "at"))
    before = None
    for step, after_due, after_step in STEPS:
        if step in taken:
            before = taken[step]
            continue
        earliest = invoice.due_at + after_due
        if before is not None:
            earliest = max(earliest, before + after_step)
        if now < earliest:
            return False
        return _suspend(invoice, now) if step == "suspended" else _warn(invoice, step, now)
    return False


def _warn(invoice: Invoice, step: str, now: datetime) -> bool:
    return _step(invoice, step, now, partial(_unpaid_text, step=step))


@transaction.atomic
def _suspend(invoice: Invoice, now: datetime) -> bool:
    """The mail about it is the suspension's own."""
    if not _step(invoice, "suspended", now, None):
        return False
    try:
        with transaction.atomic():
            suspend_organization(
                organization_id=invoice.organization_id,
                reason=format_lazy(gettext_lazy("Invoice {number} is not paid."), number=invoice),
                cause=SuspensionCause.UNPAID,
            )
    except Conflict:  # suspended for another invoice already
        return False
    log.info("organization_suspended_unpaid", organization_id=str(invoice.organization_id))
    return True


def _suspended_and_paid() -> list[UUID]:
    """Organizations that are suspended for invoices, all of which are settled by now."""
    return list(
        DunningStep.objects.filter(
            step="suspended",
            invoice__organization__suspensions__cause=SuspensionCause.UNPAID,
            invoice__organization__suspensions__ended_at=None,
        )
        .exclude(
            invoice__organization__in=Invoice.objects.filter(
                status=InvoiceStatus.OPEN, dunning__step="suspended"
            ).values("organization")
        )
        .values_list("invoice__organization_id", flat=True)
        .distinct()
    )


def _reinstate(organization_id: UUID) -> bool:
    try:
        return reinstate_organization(
            organization_id=organization_id, cause=SuspensionCause.UNPAID, reason="Paid."
        )
    except Conflict:
        return False


@transaction.atomic
def _step(invoice: Invoice, step: str, now: datetime, mail: _Text | None) -> bool:
    """Write a step with its mail; False where it is there already."""
    _, is_new = DunningStep.objects.get_or_create(invoice=invoice, step=step, defaults={"at": now})
    if is_new and mail is not None:
        _mail(invoice, mail)
    return is_new


def _issued_text(invoice: Invoice) -> tuple[str, str]:
    is_note = invoice.kind == DocumentKind.CREDIT_NOTE
    subject = (
        gettext("Credit note %(number)s of %(seller)s")
        if is_note
        else gettext("Invoice %(number)s of %(seller)s")
    )
    text = (
        gettext("Credit note %(number)s for %(month)s: %(amount)s.")
        if is_note
        else gettext("Invoice %(number)s for %(month)s: %(amount)s.")
    )
    facts = {
        "number": invoice,
        "seller": invoice.seller.get("name", ""),
        "month": languages.month(invoice.period_start),
        "amount": money(invoice.total, invoice.currency),
    }
    text = text % facts
    if invoice.status == InvoiceStatus.OPEN and invoice.due_at is not None:
        text += "\n" + gettext("It is due on %(day)s.") % {"day": languages.day(invoice.due_at)}
    return (subject % facts).strip(), text


def _refused_text(invoice: Invoice, *, error: str) -> tuple[str, str]:
    subject = gettext("Invoice %(number)s could not be charged") % {"number": invoice}
    text = gettext("Your payment method was refused: %(error)s\nAdd another one, or pay otherwise.")
    return subject, text % {"error": error}


def _unpaid_text(invoice: Invoice, *, step: str) -> tuple[str, str]:
    owed = gettext("Invoice %(number)s, %(amount)s.") % {
        "number": invoice,
        "amount": money(invoice_owed(invoice), invoice.currency),
    }
    subject = gettext("Invoice %(number)s is not paid") % {"number": invoice}
    return subject, f"{_TEXTS[step]}\n\n{owed}"


def _mail(invoice: Invoice, mail: _Text) -> None:
    """With the document; where it lies too stands below the text."""
    link = f"{settings.PUBLIC_URL}/billing"
    document = Attachment(f"{invoice.reference}.pdf", invoice_pdf(invoice))
    for contact in finance_contacts(invoice.organization_id):
        with languages.writing_in(contact.language):
            subject, text = mail(invoice)
            mail_queue(
                to=contact.email,
                kind="invoice",
                subject=subject[:200],
                text=f"{invoice.organization}\n\n{text}\n\n{link}\n",
                attachment=document,
            )
