"""A document as a download."""

from django.http import HttpResponse

from billing.invoices.csv import invoice_csv
from billing.invoices.pdf import invoice_pdf
from billing.models import Invoice


def document_response(invoice: Invoice, kind: str) -> HttpResponse:
    """`kind` is `pdf` or `csv`."""
    if kind == "csv":
        response = HttpResponse(invoice_csv(invoice), content_type="text/csv; charset=utf-8")
    else:
        response = HttpResponse(invoice_pdf(invoice), content_type="application/pdf")
    name = invoice.reference or f"draft-{invoice.pk}"
    response["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    return response
