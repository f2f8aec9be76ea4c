"""What billing's routes share: the base of their schemas, documents as downloads.

The routers know nothing of `backend.api`, which mounts them and brings authentication, errors
and encoding.
"""

from decimal import Decimal
from typing import Annotated

from django.http import HttpResponse
from pydantic import BaseModel, ConfigDict, PlainSerializer

from backend.audit.actions import Action
from backend.audit.services import Caller, record
from backend.platform.bodies import RequestModel
from billing.invoices.csv import invoice_csv
from billing.invoices.pdf import invoice_pdf
from billing.models import Invoice

# Money as a decimal text: a JSON number would be read back as a float.
Money = Annotated[Decimal, PlainSerializer(lambda value: format(value, "f"), return_type=str)]


class Out(BaseModel):
    """An answer; may be made from any object with the same attributes."""

    model_config = ConfigDict(from_attributes=True)


class In(RequestModel):
    """A body; texts are taken for numbers, as forms of the page send them."""

    model_config = ConfigDict(strict=False)


def document_response(invoice: Invoice, kind: str, *, actor: Caller) -> HttpResponse:
    """An invoice as a download; `kind` is `pdf` or `csv`. Recorded in the audit log."""
    record(
        Action.INVOICE_DOWNLOADED,
        organization_id=invoice.organization_id,
        actor=actor,
        target=("invoice", invoice.pk),
        details={"number": invoice.reference, "kind": kind},
    )
    if kind == "csv":
        response = HttpResponse(invoice_csv(invoice), content_type="text/csv; charset=utf-8")
    else:
        response = HttpResponse(invoice_pdf(invoice), content_type="application/pdf")
    name = invoice.reference or f"draft-{invoice.pk}"
    response["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return response
