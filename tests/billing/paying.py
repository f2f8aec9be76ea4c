"""What a payment provider reports, and an invoice to be paid."""

from datetime import UTC, datetime
from typing import Any

from billing.invoices.closing import invoice_close
from billing.invoices.services import invoice_issue
from billing.models import Invoice
from billing.payments.services import event_take
from billing.periods import month_of
from tests.support import stripe_server

NOW = datetime(2026, 12, 3, tzinfo=UTC)
NOVEMBER = month_of(datetime(2026, 11, 1, tzinfo=UTC))


def take(body: bytes, **signed: Any) -> str:
    return event_take(body=body, signature=stripe_server.signature(body, **signed), now=NOW)


def november_invoice(organization_id: Any) -> Invoice:
    """The issued invoice of November."""
    draft = invoice_close(organization_id=organization_id, month=NOVEMBER, now=NOW)
    assert draft is not None
    return invoice_issue(invoice_id=draft.pk, now=NOW)
