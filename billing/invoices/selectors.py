"""What an organization may see of its invoices: issued ones, by those who manage its money."""

from decimal import Decimal

from django.db.models import QuerySet, Sum

from backend.accounts.paging import Page, page_after
from backend.accounts.principal import Principal
from backend.platform.errors import NotFound
from billing.models import Invoice, InvoiceStatus, ReversalKind
from billing.permissions import require_manager


def invoices_list(
    *, principal: Principal, limit: int = 100, after: str | None = None
) -> Page[Invoice]:
    """Newest first, those after `after`; drafts are not shown.

    Raises: PermissionDenied; InvalidRequest: `after` is none of the caller's.
    """
    require_manager(principal)
    return page_after(_issued(principal), after=after, limit=limit, newest_first=True)


def invoice_get(*, principal: Principal, invoice_id: int) -> Invoice:
    """Raises PermissionDenied, NotFound."""
    require_manager(principal)
    invoice = _issued(principal).prefetch_related("lines").filter(pk=invoice_id).first()
    if invoice is None:
        raise NotFound("No such invoice.")
    return invoice


def _issued(principal: Principal) -> QuerySet[Invoice]:
    return (
        Invoice.objects.filter(organization_id=principal.organization_id)
        .exclude(status__in=[InvoiceStatus.CLOSING, InvoiceStatus.DRAFT])
        .select_related("corrects")
    )


def invoice_owed(invoice: Invoice) -> Decimal:
    """What is to be paid of an open invoice: its total, less its credit notes; where it was paid
    and a part of that taken back by disputes, that part at most."""
    if invoice.status != InvoiceStatus.OPEN:
        return Decimal(0)
    credited = invoice.credit_notes.aggregate(total=Sum("total"))["total"] or Decimal(0)
    owed = max(invoice.total + credited, Decimal(0))
    disputed = invoice.reversals.filter(kind=ReversalKind.DISPUTE, applied__gt=0)
    taken_back = disputed.aggregate(sum=Sum("applied"))["sum"]
    return owed if taken_back is None else min(owed, taken_back)
