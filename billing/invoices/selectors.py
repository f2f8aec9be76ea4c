"""What an organization may see of its invoices: issued ones, by those who manage its money."""

from decimal import Decimal

from django.db.models import QuerySet, Sum

from backend.accounts.principal import Principal
from backend.platform.errors import NotFound
from billing.models import Invoice, InvoiceStatus
from billing.permissions import require_manager


def invoices_list(*, principal: Principal) -> list[Invoice]:
    """Newest first; drafts are not shown. Raises PermissionDenied."""
    require_manager(principal)
    return list(_issued(principal))


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
        .exclude(status=InvoiceStatus.DRAFT)
        .select_related("corrects")
        .order_by("-issued_at", "-pk")
    )


def invoice_owed(invoice: Invoice) -> Decimal:
    """What is to be paid of an open invoice: its total, less its credit notes."""
    if invoice.status != InvoiceStatus.OPEN:
        return Decimal(0)
    credited = invoice.credit_notes.aggregate(total=Sum("total"))["total"] or Decimal(0)
    return max(invoice.total + credited, Decimal(0))
