"""What happens to a document after the close: issued, paid, voided, corrected.

An issued document never changes but for its status. What was wrong is put right by a credit
note, which has a number of the same series.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Sum

from backend.platform.errors import Conflict, InvalidRequest
from billing.budgets.credit_services import clear_credit_cache, lock_credit
from billing.invoices.closing import FeeCurrencyError, UnpricedUsageError, invoice_close
from billing.invoices.selectors import invoice_owed
from billing.models import (
    CollectionState,
    CreditEntry,
    CreditKind,
    DocumentKind,
    Invoice,
    InvoiceSeries,
    InvoiceStatus,
    UsageRecord,
)
from billing.periods import Period
from billing.plans import organizations_with_fees
from billing.prices.loading import load_book
from billing.rounding import to_cents
from billing.webhooks.events import invoice_event

log = structlog.get_logger(__name__)

PAYMENT_TERM = timedelta(days=14)


@transaction.atomic
def invoice_issue(*, invoice_id: int, now: datetime) -> Invoice:
    """Give a draft its number and make it final; an issued one is returned as it is.

    Numbers have no gaps: the series' row is locked until this commits, and goes back with it.
    """
    invoice = _locked(invoice_id)
    if invoice.status != InvoiceStatus.DRAFT:
        return invoice
    invoice.series, invoice.number = _next_number()
    invoice.status = InvoiceStatus.OPEN if invoice.total else InvoiceStatus.PAID
    invoice.issued_at = now
    invoice.due_at = now + PAYMENT_TERM
    invoice.save(update_fields=["series", "number", "status", "issued_at", "due_at"])
    invoice_event("invoice.issued", invoice)
    return invoice


@transaction.atomic
def invoice_pay(*, invoice_id: int, now: datetime) -> Invoice:
    """Raises Conflict unless it is open (a second payment of a paid one is accepted silently)."""
    invoice = _locked(invoice_id)
    if invoice.status == InvoiceStatus.PAID:
        return invoice
    if invoice.status != InvoiceStatus.OPEN:
        raise Conflict(f"Invoice {invoice} is {invoice.status}: only an open one can be paid.")
    invoice.status, invoice.paid_at = InvoiceStatus.PAID, now
    invoice.save(update_fields=["status", "paid_at"])
    invoice_event("invoice.paid", invoice)
    return invoice


@transaction.atomic
def invoice_reopen(*, invoice_id: int) -> Invoice:
    """What was paid for it was taken back. Raises Conflict unless it is paid."""
    invoice = _locked(invoice_id)
    if invoice.status != InvoiceStatus.PAID or not invoice.total:
        raise Conflict(f"Invoice {invoice} is {invoice.status}: only a paid one can be reopened.")
    invoice.status, invoice.paid_at = InvoiceStatus.OPEN, None
    invoice.save(update_fields=["status", "paid_at"])
    return invoice


@transaction.atomic
def invoice_void(*, invoice_id: int, now: datetime) -> Invoice:
    """Take an issued invoice back: the credit it took is given back, its usage is free again.

    The next close bills that usage: of the same month, where it is closed again, or of a later
    one, marked as late. The number stays used.

    Raises:
        Conflict: money was paid for it or is being charged, it has credit notes, or a later
            invoice was priced at the tier that this one's usage had reached and must be voided
            first.
    """
    invoice = _locked(invoice_id)
    lock_credit(invoice.organization_id)
    _check_voidable(invoice)
    invoice.status, invoice.voided_at = InvoiceStatus.VOID, now
    invoice.save(update_fields=["status", "voided_at"])
    UsageRecord.objects.filter(invoice=invoice).update(invoice=None)
    CreditEntry.objects.bulk_create(
        CreditEntry(
            organization_id=invoice.organization_id,
            kind=CreditKind.REVERSAL,
            amount=-debit.amount,
            currency=debit.currency,
            grant_id=debit.grant_id,
            invoice=invoice,
            note=f"invoice {invoice} voided",
        )
        for debit in invoice.credit.filter(kind=CreditKind.DEBIT)
    )
    transaction.on_commit(lambda: clear_credit_cache(invoice.organization_id))
    invoice_event("invoice.voided", invoice)
    return invoice


def _check_voidable(invoice: Invoice) -> None:
    if invoice.kind != DocumentKind.INVOICE:
        raise Conflict(f"{invoice} is a credit note: only an invoice can be voided.")
    nothing_paid = invoice.status == InvoiceStatus.PAID and not invoice.total
    if invoice.status != InvoiceStatus.OPEN and not nothing_paid:
        raise Conflict(f"Invoice {invoice} is {invoice.status}: only an open one can be voided.")
    if invoice.collections.filter(state=CollectionState.PENDING).exists():
        raise Conflict(f"Invoice {invoice} is being charged: wait for the answer, or credit it.")
    if invoice.credit_notes.exists():
        raise Conflict(f"Invoice {invoice} has a credit note: credit what is left of it instead.")
    later = _priced_on_top_of(invoice)
    if later is not None:
        raise Conflict(f"Invoice {later} bills later usage of that month: void it first.")


def _priced_on_top_of(invoice: Invoice) -> Invoice | None:
    """The newest invoice whose late usage counted its volume tier from this one's usage."""
    if not load_book(invoice.currency).tiered:
        return None
    months = invoice.lines.values("usage_month")
    return (
        Invoice.objects.filter(
            organization_id=invoice.organization_id,
            kind=DocumentKind.INVOICE,
            pk__gt=invoice.pk,
            lines__usage_month__in=months,
        )
        .exclude(status=InvoiceStatus.VOID)
        .order_by("-pk")
        .first()
    )


@transaction.atomic
def credit_note_create(*, invoice_id: int, amount: Decimal, reason: str, now: datetime) -> Invoice:
    """Correct an issued invoice by an amount before tax; tax is corrected with it. An open one of
    which nothing is owed any more is settled.

    Raises:
        Conflict: it is not an invoice that was issued.
        InvalidRequest: no reason, no positive amount of whole cents, or more than the invoice
            has left after earlier credit notes.
    """
    invoice = _locked(invoice_id)
    if invoice.kind != DocumentKind.INVOICE or invoice.status not in (
        InvoiceStatus.OPEN,
        InvoiceStatus.PAID,
    ):
        raise Conflict("A credit note corrects an invoice that is open or paid.")
    if not reason.strip():
        raise InvalidRequest("A credit note needs a reason.", param="reason")
    earlier = invoice.credit_notes.aggregate(subtotal=Sum("subtotal"), tax=Sum("tax"))
    credited, tax_credited = (-(earlier[name] or Decimal(0)) for name in ("subtotal", "tax"))
    left = invoice.subtotal - invoice.credit_applied - credited
    if (
        not amount.is_finite()
        or amount != to_cents(amount, invoice.currency)
        or not 0 < amount <= left
    ):
        raise InvalidRequest(
            f"A credit note is for whole cents, at most what is left: {left}.", param="amount"
        )
    # Rounded over all notes together: each rounded alone could give back more than was charged.
    tax = max(
        Decimal(0),
        to_cents((credited + amount) * invoice.tax_rate, invoice.currency) - tax_credited,
    )
    series, number = _next_number()
    note = Invoice.objects.create(
        organization_id=invoice.organization_id,
        kind=DocumentKind.CREDIT_NOTE,
        series=series,
        number=number,
        status=InvoiceStatus.PAID,
        corrects=invoice,
        reason=reason.strip()[:300],
        period_start=invoice.period_start,
        period_end=invoice.period_end,
        currency=invoice.currency,
        subtotal=-amount,
        tax_rate=invoice.tax_rate,
        tax=-tax,
        total=-amount - tax,
        seller=invoice.seller,
        customer=invoice.customer,
        language=invoice.language,
        issued_at=now,
    )
    invoice_event("credit_note.issued", note)
    if invoice.status == InvoiceStatus.OPEN and not invoice_owed(invoice):
        invoice_pay(invoice_id=invoice.pk, now=now)
    return note


def close_and_issue_month(*, month: Period, now: datetime) -> tuple[int, list[str]]:
    """Close a month for every organization that used something; issue what it can.

    Returns:
        How many documents were issued, and why organizations were left out.
    """
    issued, problems = 0, []
    for organization_id in organizations_with_usage(month):
        try:
            invoice = invoice_close(organization_id=organization_id, month=month, now=now)
            if invoice is not None and invoice.status == InvoiceStatus.DRAFT:
                invoice_issue(invoice_id=invoice.pk, now=now)
                issued += 1
        except (UnpricedUsageError, FeeCurrencyError) as error:
            problems.append(f"{organization_id}: {error}")
            log.error("invoice_not_closed", organization_id=str(organization_id), reason=str(error))
        except Exception as error:  # what one organization meets stops no other's month
            problems.append(f"{organization_id}: {error!r}")
            log.exception("invoice_not_closed", organization_id=str(organization_id))
    return issued, problems


def organizations_with_usage(month: Period) -> Sequence[UUID]:
    """Return the organizations that have something to bill before the month's end, or a draft.

    That is usage on no invoice, a close that was interrupted, or a plan's price.
    """
    waiting = UsageRecord.objects.filter(invoice=None, occurred_at__lt=month.end)
    drafts = Invoice.objects.filter(
        period_start=month.start, status__in=[InvoiceStatus.CLOSING, InvoiceStatus.DRAFT]
    )
    ids = set(waiting.values_list("organization_id", flat=True).distinct())
    ids |= set(drafts.values_list("organization_id", flat=True))
    ids |= organizations_with_fees(month)
    return sorted(ids)


def _locked(invoice_id: int) -> Invoice:
    return Invoice.objects.select_for_update().get(pk=invoice_id)


def _next_number() -> tuple[str, int]:
    """The seller's series and its next number, which goes back if the transaction does."""
    name = settings.BILLING_INVOICE_SERIES
    InvoiceSeries.objects.get_or_create(name=name)
    series = InvoiceSeries.objects.select_for_update().get(name=name)
    series.last += 1
    series.save(update_fields=["last"])
    return name, series.last
