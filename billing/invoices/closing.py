"""The monthly close: a month's usage becomes an invoice, once.

Every ledger record that occurred before the month's end and is on no invoice yet is marked with
this one, in batches: each is a transaction, and a close that was interrupted goes on from there.
The last transaction, under a lock for the organization, marks what came meanwhile, prices all and
debits the credit ledger. Until then the invoice is `closing`, and its usage counts as on none.
Records that come later find the month closed and go to the next invoice, marked as late. Closing
again finds the invoice and returns it; a month whose invoice was voided is closed anew.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

import structlog
from django.db import connection, transaction

from backend.accounts.models import Organization, Project
from billing.accounts import Terms, billing_language, seller, terms_of
from billing.budgets.credit import consume, open_grants
from billing.budgets.credit_services import clear_credit_cache, lock_credit
from billing.models import (
    CreditEntry,
    CreditKind,
    DocumentKind,
    Invoice,
    InvoiceLine,
    InvoiceStatus,
    UsageRecord,
)
from billing.periods import Period, month_of
from billing.plans import PlanFee, plan_fees
from billing.prices.loading import load_book
from billing.prices.usage import PricedBucket, Pricer
from billing.pricing import on_invoice
from billing.quantities import TokenCounts
from billing.rounding import totals

BATCH = 20_000
"""Records that one transaction marks: a second or two, for which others of the ledger wait."""
_TAKE = """
UPDATE billing_usagerecord SET invoice_id = %(invoice)s
WHERE invoice_id IS NULL AND (id_month, generation_id) IN (
    SELECT id_month, generation_id FROM billing_usagerecord
    WHERE organization_id = %(organization)s AND invoice_id IS NULL AND occurred_at < %(end)s
    ORDER BY occurred_at LIMIT %(limit)s
)
"""

log = structlog.get_logger(__name__)


class UnpricedUsageError(Exception):
    """Models that were used have no price; the month cannot be closed before they have one."""

    def __init__(self, models: set[str]) -> None:
        super().__init__(f"no price for {', '.join(sorted(models))}: add one, then close")
        self.models = models


class FeeCurrencyError(Exception):
    """A plan was chosen in another currency than the organization pays in by now."""

    def __init__(self, fee: PlanFee, currency: str) -> None:
        super().__init__(
            f"{fee.plan} of {fee.month:%Y-%m} is in {fee.period.currency}, the organization pays"
            f" in {currency}: set its currency back, or end the plan, then close"
        )


class MonthNotOver(Exception):
    """Only a month that has ended can be closed."""


class _LineKey(NamedTuple):
    usage_month: date
    project_id: UUID
    model: str
    at_project_price: bool


@dataclass(slots=True)
class _Line:
    requests: int = 0
    counts: TokenCounts = field(default_factory=TokenCounts)
    amount: Decimal = Decimal(0)

    def add(self, priced: PricedBucket) -> None:
        self.requests += priced.bucket.requests
        self.counts += priced.bucket.counts
        self.amount += priced.cost


def invoice_close(*, organization_id: UUID, month: Period, now: datetime) -> Invoice | None:
    """Draft the invoice for a month; the one that exists, if it was closed before.

    Returns:
        None where the organization used nothing that is not on an invoice, and owes no plan.
    Raises:
        MonthNotOver: it ends after `now`.
        UnpricedUsageError, FeeCurrencyError: the invoice stays `closing`; close again.
    """
    if month.end > now:
        raise MonthNotOver(f"{month.name} is not over")
    invoice = _begin(organization_id, month)
    if invoice is None or invoice.status != InvoiceStatus.CLOSING:
        return invoice
    while _take_batch(invoice) == BATCH:
        pass
    return _finish(invoice, month)


@transaction.atomic
def _begin(organization_id: UUID, month: Period) -> Invoice | None:
    """Return the month's invoice; a new one is `closing`. None where there is nothing to bill."""
    lock_credit(organization_id)
    invoices = Invoice.objects.filter(
        organization_id=organization_id, kind=DocumentKind.INVOICE, period_start=month.start
    )
    invoice = invoices.exclude(status=InvoiceStatus.VOID).first()
    if invoice is not None:
        return invoice
    waiting = UsageRecord.objects.filter(
        organization_id=organization_id, invoice=None, occurred_at__lt=month.end
    )
    if not waiting.exists() and not plan_fees(organization_id=organization_id, month=month):
        return None
    return Invoice.objects.create(
        organization_id=organization_id,
        kind=DocumentKind.INVOICE,
        status=InvoiceStatus.CLOSING,
        period_start=month.start,
        period_end=month.end,
        currency=terms_of(organization_id).currency,
        subtotal=0,
        tax_rate=0,
        tax=0,
        total=0,
    )


def _take_batch(invoice: Invoice) -> int:
    """Mark up to `BATCH` records with the invoice, the oldest first. Returns how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            _TAKE,
            {
                "invoice": invoice.pk,
                "organization": invoice.organization_id,
                "end": invoice.period_end,
                "limit": BATCH,
            },
        )
        return cursor.rowcount


@transaction.atomic
def _finish(invoice: Invoice, month: Period) -> Invoice:
    """Price the invoice; one that another process has finished meanwhile is returned as it is."""
    organization_id = invoice.organization_id
    lock_credit(organization_id)
    invoice = Invoice.objects.get(pk=invoice.pk)
    if invoice.status != InvoiceStatus.CLOSING:
        return invoice
    # Marked first and priced afterwards, so that no record can slip in between.
    while _take_batch(invoice):
        pass
    _draft(invoice, month)
    transaction.on_commit(lambda: clear_credit_cache(organization_id))
    log.info("invoice_closed", organization_id=str(organization_id), month=month.name)
    return invoice


def _draft(invoice: Invoice, month: Period) -> None:
    organization_id = invoice.organization_id
    terms = terms_of(organization_id)
    pricer = Pricer(organization_id=organization_id, book=load_book(terms.currency))
    lines: dict[_LineKey, _Line] = {}
    spending: list[tuple[datetime, Decimal]] = []
    for priced in on_invoice(
        organization_id=organization_id,
        invoice_id=invoice.pk,
        pricer=pricer,
        dimensions=("project_id",),
    ):
        bucket = priced.bucket
        assert bucket.project_id is not None
        usage_month = month_of(bucket.start).start.date()
        key = _LineKey(usage_month, bucket.project_id, bucket.model, priced.at_project_price)
        lines.setdefault(key, _Line()).add(priced)
        spending.append((bucket.start, priced.cost))
    if pricer.unpriced:
        raise UnpricedUsageError(pricer.unpriced)
    credit = consume(open_grants(organization_id), spending)
    fees = plan_fees(organization_id=organization_id, month=month)
    for fee in fees:
        if fee.period.currency != terms.currency:
            raise FeeCurrencyError(fee, terms.currency)
    exact = sum((line.amount for line in lines.values()), Decimal(0))
    exact += sum((fee.amount for fee in fees), Decimal(0))
    sums = totals(
        exact=exact,
        exact_credit=sum(credit.taken.values(), Decimal(0)),
        tax_rate=terms.tax_rate,
        currency=terms.currency,
    )
    invoice.status = InvoiceStatus.DRAFT
    invoice.currency = terms.currency
    invoice.subtotal, invoice.credit_applied = sums.subtotal, sums.credit_applied
    invoice.tax_rate, invoice.tax, invoice.total = terms.tax_rate, sums.tax, sums.total
    invoice.seller = seller(terms.country)
    invoice.customer = _customer(organization_id, terms)
    invoice.language = billing_language(organization_id)
    invoice.save()
    _write_lines(invoice, lines, month)
    _write_fees(invoice, fees, month, after=len(lines))
    CreditEntry.objects.bulk_create(
        CreditEntry(
            organization_id=organization_id,
            kind=CreditKind.DEBIT,
            amount=-amount,
            currency=terms.currency,
            grant_id=grant_id,
            invoice=invoice,
            note=f"usage of {month.name}",
        )
        for grant_id, amount in credit.taken.items()
    )


def _write_lines(invoice: Invoice, lines: dict[_LineKey, _Line], month: Period) -> None:
    projects = Project.objects.in_bulk({key.project_id for key in lines})
    names = {key: project.name for key, project in projects.items()}
    ordered = sorted(
        lines.items(),
        key=lambda item: (
            item[0].usage_month,
            names.get(item[0].project_id, ""),
            str(item[0].project_id),
            item[0].model,
            item[0].at_project_price,
        ),
    )
    InvoiceLine.objects.bulk_create(
        InvoiceLine(
            invoice=invoice,
            position=position,
            project_id=key.project_id,
            project_name=names.get(key.project_id, str(key.project_id)),
            model=key.model,
            usage_month=key.usage_month,
            is_late=key.usage_month < month.start.date(),
            at_project_price=key.at_project_price,
            requests=line.requests,
            **line.counts.columns(),
            amount=line.amount,
        )
        for position, (key, line) in enumerate(ordered, start=1)
    )


def _write_fees(invoice: Invoice, fees: list[PlanFee], month: Period, *, after: int) -> None:
    """A plan has no project, no model and no tokens; prepaid credit is for usage only."""
    InvoiceLine.objects.bulk_create(
        InvoiceLine(
            invoice=invoice,
            position=position,
            project_id=UUID(int=0),
            project_name="Plan",
            model=fee.plan,
            usage_month=fee.month,
            is_late=fee.month < month.start.date(),
            plan_period=fee.period,
            requests=0,
            **TokenCounts().columns(),
            amount=fee.amount,
        )
        for position, fee in enumerate(fees, start=after + 1)
    )


def _customer(organization_id: UUID, terms: Terms) -> dict[str, str]:
    """The customer as the document will always show it, whatever changes later."""
    organization = Organization.objects.get(pk=organization_id)
    return {
        "name": terms.legal_name or organization.name,
        "address": terms.address,
        "tax_id": terms.tax_id,
    }
