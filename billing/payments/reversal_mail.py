"""What customers are told of a payment that was taken back, or restored."""

from decimal import Decimal

from django.utils.translation import gettext, gettext_noop

from billing.models import PaymentReversal, ReversalKind
from billing.rounding import money

_SUBJECTS = {
    (ReversalKind.REFUND, True): gettext_noop("A payment was refunded"),
    (ReversalKind.REFUND, False): gettext_noop(
        "A payment is restored: its refund failed at your bank"
    ),
    (ReversalKind.DISPUTE, True): gettext_noop(
        "A payment was disputed at your bank and taken back"
    ),
    (ReversalKind.DISPUTE, False): gettext_noop("A payment is restored: the dispute was decided"),
}
_OF_INVOICE = {
    (ReversalKind.REFUND, True): gettext_noop(
        "%(amount)s of your payment for invoice %(number)s was refunded.\n"
    ),
    (ReversalKind.REFUND, False): gettext_noop(
        "%(amount)s of your payment for invoice %(number)s is restored: its refund failed at your"
        " bank.\n"
    ),
    (ReversalKind.DISPUTE, True): gettext_noop(
        "%(amount)s of your payment for invoice %(number)s was disputed at your bank and taken"
        " back.\n"
    ),
    (ReversalKind.DISPUTE, False): gettext_noop(
        "%(amount)s of your payment for invoice %(number)s is restored: the dispute was decided.\n"
    ),
}
_OF_TOP_UP = {
    (ReversalKind.REFUND, True): gettext_noop(
        "%(amount)s of your payment for the top-up of %(paid)s was refunded.\n"
    ),
    (ReversalKind.REFUND, False): gettext_noop(
        "%(amount)s of your payment for the top-up of %(paid)s is restored: its refund failed at"
        " your bank.\n"
    ),
    (ReversalKind.DISPUTE, True): gettext_noop(
        "%(amount)s of your payment for the top-up of %(paid)s was disputed at your bank and taken"
        " back.\n"
    ),
    (ReversalKind.DISPUTE, False): gettext_noop(
        "%(amount)s of your payment for the top-up of %(paid)s is restored: the dispute was"
        " decided.\n"
    ),
}


def reversal_text(row: PaymentReversal, change: Decimal) -> tuple[str, str]:
    """Subject and text, in the language that is written in.

    Args:
        row: with its top-up or its invoice.
        change: what was taken back; negative: restored.
    """
    happened = (ReversalKind(row.kind), change > 0)
    amount = money(abs(change), row.currency)
    if row.top_up is not None:
        paid = money(row.top_up.amount, row.top_up.currency)
        text = gettext(_OF_TOP_UP[happened]) % {"amount": amount, "paid": paid}
        text += "\n" + gettext(
            "Your prepaid credit is corrected by it. Below zero, requests are refused.\n"
        )
    else:
        text = gettext(_OF_INVOICE[happened]) % {"amount": amount, "number": row.invoice}
        if happened == (ReversalKind.DISPUTE, True):
            text += "\n" + gettext("The invoice is open again and is not charged by itself.\n")
    return gettext(_SUBJECTS[happened]), text
