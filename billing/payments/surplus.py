"""Payments that paid for nothing: a second one of an invoice, one of a void invoice, one of another
amount than was owed.

Each is a row until it is refunded, a line in the log, and a mail to the staff of finance, who
refund it at the provider; the refund's event closes the row.
"""

from datetime import datetime
from decimal import Decimal

import structlog
from django.conf import settings
from django.contrib.auth import get_user_model

from backend.accounts.mail import mail_queue
from billing.models import Invoice, SurplusPayment, TopUp
from billing.rounding import money

log = structlog.get_logger(__name__)


def surplus_record(
    *, payment_id: str, of: Invoice | TopUp, amount: Decimal, currency: str, reason: str
) -> None:
    """Note what is to be refunded of a payment, once; within the caller's transaction."""
    row, is_new = SurplusPayment.objects.get_or_create(
        payment_id=payment_id,
        defaults={
            "organization_id": of.organization_id,
            "invoice": of if isinstance(of, Invoice) else None,
            "top_up": of if isinstance(of, TopUp) else None,
            "amount": amount,
            "currency": currency,
            "reason": reason,
        },
    )
    if not is_new:
        return
    log.error("payment_to_be_refunded", payment_id=payment_id, amount=str(amount), reason=reason)
    _tell_finance(row)


def surplus_refunded(payment_id: str, amount: Decimal, *, now: datetime) -> SurplusPayment | None:
    """Note what was refunded in all of a payment that paid for nothing; None: it is not one."""
    row = SurplusPayment.objects.select_for_update().filter(payment_id=payment_id).first()
    if row is not None:
        row.refunded = amount
        row.refunded_at = now if amount >= row.amount else None
        row.save(update_fields=["refunded", "refunded_at"])
    return row


def _tell_finance(row: SurplusPayment) -> None:
    staff = get_user_model().objects.filter(is_active=True, is_staff=True, groups__name="Finance")
    amount = money(row.amount, row.currency)
    for address in staff.values_list("email", flat=True):
        mail_queue(
            to=address,
            kind="payment",
            subject=f"{amount} of {row.organization} is to be refunded",
            text=(
                f"{row.reason}\n\n"
                f"Payment {row.payment_id} of {row.organization}: {amount} paid for nothing.\n"
                "Refund it at the payment provider; its event closes the entry in\n"
                f"{settings.PUBLIC_URL}/admin/billing/surpluspayment/\n"
            ),
        )
