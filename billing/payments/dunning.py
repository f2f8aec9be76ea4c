"""Issued invoices until they are paid: mailed, charged, reminded of, and at last the suspension.

Beat runs `collect` every hour. Each step of an invoice is a row, written with the mail that it
sends, so it happens once; steps happen in their order and each waits for the one before it, so
that nobody is suspended who was not warned twice, `_BEFORE_SUSPENSION` ahead, however long the
task did not run.
"""

from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from backend.accounts.operator_models import SuspensionCause
from backend.accounts.suspension import reinstate_organization, suspend_organization
from backend.platform.errors import Conflict
from billing.invoices.selectors import invoice_owed
from billing.models import DocumentKind, DunningStep, Invoice, InvoiceStatus
from billing.payments.charging import invoice_charge, invoice_lock, is_below_minimum
from billing.payments.invoice_mail import InvoiceText, invoice_mail, issued_text, unpaid_text
from billing.payments.port import PaymentProviderFailed
from billing.plans import replaced_periods_end

log = structlog.get_logger(__name__)

_BEFORE_SUSPENSION = timedelta(days=5)
# step, how long after the due date, how long after the step before it
STEPS: tuple[tuple[str, timedelta, timedelta], ...] = (
    ("due", timedelta(0), timedelta(0)),
    ("warning", timedelta(days=7), timedelta(days=2)),
    ("last_warning", timedelta(days=14), _BEFORE_SUSPENSION),
    ("suspended", timedelta(days=14) + _BEFORE_SUSPENSION, _BEFORE_SUSPENSION),
)


def collect(*, now: datetime) -> dict[str, int]:
    """Do what is due with every issued invoice. Returns how many mails, charges, suspensions and
    reinstatements there were."""
    replaced_periods_end(now)
    done = {"mailed": 0, "charged": 0, "stepped": 0, "reinstated": 0}
    for invoice in _documents_to_mail():
        done["mailed"] += _step(invoice, "issued", now, issued_text)
    for invoice_id in _unpaid():
        try:
            done["charged"] += invoice_charge(invoice_id, now=now)
        except PaymentProviderFailed as error:
            log.warning("invoice_not_charged", invoice_id=invoice_id, error=str(error))
        done["stepped"] += _remind(invoice_id, now)
    for organization_id in _suspended_and_paid():
        done["reinstated"] += _reinstate(organization_id)
    return done


def _documents_to_mail() -> list[Invoice]:
    """Issued, and not mailed yet. Those of before this began are not mailed again."""
    return list(
        Invoice.objects.filter(status__in=[InvoiceStatus.OPEN, InvoiceStatus.PAID])
        .exclude(series="")
        .exclude(dunning__step="issued")
        .select_related("organization")
        .order_by("pk")[:1000]
    )


def _unpaid() -> list[int]:
    """Return the invoices that are open now; each is read again when its turn comes."""
    return list(
        Invoice.objects.filter(kind=DocumentKind.INVOICE, status=InvoiceStatus.OPEN, total__gt=0)
        .exclude(series="")
        .order_by("pk")
        .values_list("pk", flat=True)
    )


@transaction.atomic
def _remind(invoice_id: int, now: datetime) -> bool:
    """The next step, where it is due. An invoice below the provider's minimum has none."""
    invoice = invoice_lock(invoice_id)
    if not settings.BILLING_DUNNING or invoice.due_at is None:
        return False
    owed = invoice_owed(invoice)
    if not owed or is_below_minimum(invoice, owed):
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
    return _step(invoice, step, now, partial(unpaid_text, step=step))


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
    """Organizations that are suspended for invoices of which nothing is owed by now."""
    suspended = Invoice.objects.filter(
        dunning__step="suspended",
        organization__suspensions__cause=SuspensionCause.UNPAID,
        organization__suspensions__ended_at=None,
    ).distinct()
    owing = {invoice.organization_id for invoice in suspended if invoice_owed(invoice)}
    return sorted({invoice.organization_id for invoice in suspended} - owing)


def _reinstate(organization_id: UUID) -> bool:
    try:
        return reinstate_organization(
            organization_id=organization_id, cause=SuspensionCause.UNPAID, reason="Paid."
        )
    except Conflict:
        return False


@transaction.atomic
def _step(invoice: Invoice, step: str, now: datetime, text: InvoiceText | None) -> bool:
    """Write a step with its mail; False where it is there already."""
    _, is_new = DunningStep.objects.get_or_create(invoice=invoice, step=step, defaults={"at": now})
    if is_new and text is not None:
        invoice_mail(invoice, text)
    return is_new
