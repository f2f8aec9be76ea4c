"""An invoice's lines as CSV, exact amounts included."""

import csv
import io

from billing.models import Invoice
from billing.quantities import TOKEN_COLUMNS

COLUMNS = (
    "invoice",
    "usage_month",
    "late",
    "project",
    "model",
    "price_of",
    "requests",
    *TOKEN_COLUMNS,
    "amount",
    "currency",
)


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: str) -> str:
    """Text as a spreadsheet shows it: a name that a customer chose must not run as a formula."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def invoice_csv(invoice: Invoice) -> str:
    """One row a line; the sum of `amount`, rounded, is the invoice's subtotal."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for line in invoice.lines.order_by("position"):
        writer.writerow(
            [
                safe_cell(str(invoice)),
                f"{line.usage_month:%Y-%m}",
                "yes" if line.is_late else "",
                safe_cell(line.project_name),
                safe_cell(line.model),
                "project" if line.at_project_price else "",
                line.requests,
                *(getattr(line, column) for column in TOKEN_COLUMNS),
                f"{line.amount.normalize():f}",
                invoice.currency,
            ]
        )
    return text.getvalue()
