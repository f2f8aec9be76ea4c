"""What customers are told about an invoice, in the language that it is called in."""

from collections.abc import Callable

from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from backend.accounts.mail import Attachment, mail_queue
from backend.platform import languages
from billing.accounts import finance_contacts
from billing.invoices.pdf import invoice_pdf
from billing.invoices.selectors import invoice_owed
from billing.models import DocumentKind, Invoice, InvoiceStatus
from billing.rounding import money

InvoiceText = Callable[[Invoice], tuple[str, str]]
"""Subject and text of a mail about an invoice."""

_TEXTS = {
    "due": gettext_lazy("It is due today."),
    "warning": gettext_lazy(
        "It is overdue. If it stays unpaid, your organization will be suspended."
    ),
    "last_warning": gettext_lazy(
        "It is long overdue. In five days your organization will be suspended: its"
        " API keys will be refused and its members will not be able to chat."
    ),
}


def issued_text(invoice: Invoice) -> tuple[str, str]:
    is_note = invoice.kind == DocumentKind.CREDIT_NOTE
    subject = (
        gettext("Credit note %(number)s of %(seller)s")
        if is_note
        else gettext("Invoice %(number)s of %(seller)s")
    )
    text = (
        gettext("Credit note %(number)s for %(month)s: %(amount)s.")
        if is_note
        else gettext("Invoice %(number)s for %(month)s: %(amount)s.")
    )
    facts = {
        "number": invoice,
        "seller": invoice.seller.get("name", ""),
        "month": languages.month(invoice.period_start),
        "amount": money(invoice.total, invoice.currency),
    }
    text = text % facts
    if invoice.status == InvoiceStatus.OPEN and invoice.due_at is not None:
        text += "\n" + gettext("It is due on %(day)s.") % {"day": languages.day(invoice.due_at)}
    return (subject % facts).strip(), text


def refused_text(invoice: Invoice, *, error: str) -> tuple[str, str]:
    subject = gettext("Invoice %(number)s could not be charged") % {"number": invoice}
    text = gettext("Your payment method was refused: %(error)s\nAdd another one, or pay otherwise.")
    return subject, text % {"error": error}


def unpaid_text(invoice: Invoice, *, step: str) -> tuple[str, str]:
    owed = gettext("Invoice %(number)s, %(amount)s.") % {
        "number": invoice,
        "amount": money(invoice_owed(invoice), invoice.currency),
    }
    subject = gettext("Invoice %(number)s is not paid") % {"number": invoice}
    return subject, f"{_TEXTS[step]}\n\n{owed}"


def invoice_mail(invoice: Invoice, text: InvoiceText) -> None:
    """Queue a mail with the document and a link to where it is."""
    link = f"{settings.PUBLIC_URL}/billing"
    document = Attachment(f"{invoice.reference}.pdf", invoice_pdf(invoice))
    for contact in finance_contacts(invoice.organization_id):
        with languages.writing_in(contact.language):
            subject, body = text(invoice)
            mail_queue(
                to=contact.email,
                kind="invoice",
                subject=subject[:200],
                text=f"{invoice.organization}\n\n{body}\n\n{link}\n",
                attachment=document,
            )
