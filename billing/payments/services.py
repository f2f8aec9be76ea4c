"""Paying: a method on file, credit that is bought, and what the provider's events do.

The functions that ask the provider run outside of any transaction. `event_take` is one: the event's
row and its effect, so that each event counts once.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Max

from backend.accounts.models import Organization
from backend.accounts.principal import Principal
from backend.audit.actions import Action
from backend.audit.services import record
from backend.platform.errors import InvalidRequest, NotFound, RateLimited
from billing.accounts import finance_contacts, terms_of
from billing.budgets.credit_services import credit_grant
from billing.invoices.selectors import invoice_owed
from billing.invoices.services import invoice_pay
from billing.models import (
    Collection,
    CollectionState,
    Invoice,
    InvoiceStatus,
    PaymentCustomer,
    PaymentEvent,
    TopUp,
    TopUpState,
)
from billing.payments.port import (
    InvoiceFailed,
    InvoicePaid,
    MethodAdded,
    PaymentDisputed,
    PaymentRefunded,
    ProviderEvent,
    RefundKnown,
    TopUpExpired,
    TopUpPaid,
)
from billing.payments.provider import payment_provider
from billing.payments.reversals import (
    is_disputed,
    payment_disputed,
    payment_lock,
    payment_refunded,
    refund_known,
    reversals_apply,
)
from billing.payments.surplus import surplus_record
from billing.permissions import require_money_writer
from billing.rounding import to_cents

log = structlog.get_logger(__name__)

MIN_TOP_UP, MAX_TOP_UP = Decimal(5), Decimal(10_000)
MAX_TOP_UPS_AN_HOUR = 20


def customer_ensure(organization_id: UUID) -> PaymentCustomer:
    """The organization at the provider, made there when it is first needed."""
    customer = PaymentCustomer.objects.filter(organization_id=organization_id).first()
    if customer is not None:
        return customer
    organization = Organization.objects.get(pk=organization_id)
    contacts = finance_contacts(organization_id)
    customer_id = payment_provider().customer_create(
        organization_id=organization_id,
        name=terms_of(organization_id).legal_name or organization.name,
        email=contacts[0].email if contacts else "",
    )
    customer, _ = PaymentCustomer.objects.get_or_create(
        organization_id=organization_id, defaults={"customer_id": customer_id}
    )
    return customer


def method_page(*, principal: Principal) -> str:
    """Where the caller's organization gives a payment method.

    Raises: PermissionDenied, PaymentsNotConfigured, PaymentProviderFailed.
    """
    require_money_writer(principal)
    provider = payment_provider()
    customer = customer_ensure(principal.organization_id)
    return provider.method_page(
        customer_id=customer.customer_id,
        currency=terms_of(principal.organization_id).currency,
        return_url=_page("method"),
    )


def method_remove(*, principal: Principal) -> None:
    """Forget the payment method. Raises as `method_page`, and NotFound where there is none."""
    require_money_writer(principal)
    customer = (
        PaymentCustomer.objects.filter(organization_id=principal.organization_id)
        .exclude(method_id="")
        .first()
    )
    if customer is None:
        raise NotFound("There is no payment method.")
    payment_provider().method_remove(method_id=customer.method_id)
    with transaction.atomic():
        PaymentCustomer.objects.filter(pk=customer.pk, method_id=customer.method_id).update(
            method_id="", method_label="", method_added_at=None
        )
        record(
            Action.PAYMENT_METHOD_UPDATED,
            organization_id=principal.organization_id,
            actor=principal,
            details={"removed": True},
        )


def top_up_begin(*, principal: Principal, amount: Decimal, now: datetime) -> tuple[TopUp, str]:
    """Ask for prepaid credit: the top-up, and the URL where it is paid.

    Raises:
        InvalidRequest: not whole cents between `MIN_TOP_UP` and `MAX_TOP_UP`.
        RateLimited: too many in an hour. Else as `method_page`.
    """
    require_money_writer(principal)
    provider = payment_provider()
    organization_id = principal.organization_id
    currency = terms_of(organization_id).currency
    least = max(MIN_TOP_UP, provider.minimum(currency))
    if amount != to_cents(amount, currency) or not least <= amount <= MAX_TOP_UP:
        raise InvalidRequest(
            f"A top-up is {least} to {MAX_TOP_UP}, in the smallest coin of {currency}.",
            param="amount",
        )
    asked = TopUp.objects.filter(
        organization_id=organization_id, created_at__gt=now - timedelta(hours=1)
    )
    if asked.count() >= MAX_TOP_UPS_AN_HOUR:
        raise RateLimited("Too many top-ups were begun in this hour.", retry_after=3600)
    customer = customer_ensure(organization_id)
    with transaction.atomic():
        top_up = TopUp.objects.create(
            organization_id=organization_id,
            amount=amount,
            currency=currency,
            created_by_id=principal.user_id,
        )
        record(
            Action.TOP_UP_BEGUN,
            organization_id=organization_id,
            actor=principal,
            target=("top_up", top_up.pk),
            details={"amount": str(amount), "currency": top_up.currency},
        )
    url = provider.top_up_page(
        customer_id=customer.customer_id,
        top_up_id=top_up.pk,
        amount=amount,
        currency=top_up.currency,
        return_url=_page("top-up"),
    )
    return top_up, url


def event_take(*, body: bytes, signature: str, now: datetime) -> str:
    """Take an event of the provider; what it changed.

    Delivered again it changes nothing, and so does another event of the same payment, in whatever
    order they come. Raises PaymentsNotConfigured, EventRefused; then nothing was taken.
    """
    event = payment_provider().event(body=body, signature=signature)
    with transaction.atomic():
        row, is_new = PaymentEvent.objects.get_or_create(
            event_id=event.id, defaults={"type": event.type, "effect": ""}
        )
        if not is_new:
            return row.effect
        row.effect = _effect(event, now)[:200]
        row.save(update_fields=["effect"])
    log.info("payment_event_taken", event_id=event.id, type=event.type, effect=row.effect)
    return row.effect


def _effect(event: ProviderEvent, now: datetime) -> str:
    match event.happening:
        case TopUpPaid() as paid:
            return _top_up_paid(paid, now)
        case TopUpExpired(top_up_id):
            expired = TopUp.objects.filter(pk=top_up_id, state=TopUpState.PENDING)
            return "top-up expired" if expired.update(state=TopUpState.EXPIRED) else "nothing"
        case MethodAdded(customer_id, method):
            added = PaymentCustomer.objects.filter(customer_id=customer_id).update(
                method_id=method.id, method_label=method.label, method_added_at=now
            )
            return f"payment method {method.label}" if added else "unknown customer"
        case InvoicePaid() as paid:
            return invoice_paid(paid, now=now)
        case InvoiceFailed(invoice_id, payment_id, error):
            Collection.objects.filter(invoice_id=invoice_id, payment_id=payment_id).exclude(
                state=CollectionState.PAID
            ).update(state=CollectionState.FAILED, error=error[:300])
            return f"collecting invoice {invoice_id} failed"
        case PaymentRefunded() as refunded:
            return payment_refunded(refunded, now=now)
        case RefundKnown() as refund:
            return refund_known(refund, now=now)
        case PaymentDisputed() as disputed:
            return payment_disputed(disputed, now=now)
    return "nothing"


def _top_up_paid(paid: TopUpPaid, now: datetime) -> str:
    """Give the credit, once: of several events of one payment the first does. One that was paid
    after it had expired was paid all the same."""
    payment_lock(paid.payment_id)
    top_up = TopUp.objects.select_for_update().filter(pk=paid.top_up_id).first()
    if top_up is None:
        log.error("payment_of_unknown_top_up", top_up_id=str(paid.top_up_id))
        return "unknown top-up"
    if top_up.state == TopUpState.PAID and top_up.payment_id == paid.payment_id:
        return "nothing: credit was given already"
    if top_up.state == TopUpState.PAID:
        reason = f"The top-up of {top_up} was paid by another payment"
    elif (paid.amount, paid.currency) != (top_up.amount, top_up.currency):
        reason = f"{paid.amount} {paid.currency} was paid, not {top_up}"
    else:
        reason = ""
    if reason:
        _to_be_refunded(paid, top_up, paid.amount, reason)
        return f"to be refunded: {reason}"
    top_up.credit = credit_grant(
        organization_id=top_up.organization_id,
        amount=top_up.amount,
        note=f"top-up {top_up.pk}",
        by_user_id=top_up.created_by_id,
        currency=top_up.currency,
    )
    top_up.state, top_up.paid_at, top_up.payment_id = TopUpState.PAID, now, paid.payment_id
    top_up.save(update_fields=["credit", "state", "paid_at", "payment_id"])
    reversals_apply(paid.payment_id, now=now)
    return f"credit of {top_up.amount} {top_up.currency}"


def invoice_paid(paid: InvoicePaid, *, now: datetime) -> str:
    """Note that an invoice was paid; within the caller's transaction."""
    payment_lock(paid.payment_id)
    invoice = Invoice.objects.select_for_update().filter(pk=paid.invoice_id).first()
    if invoice is None:
        log.error("payment_of_unknown_invoice", invoice_id=paid.invoice_id)
        return "unknown invoice"
    if is_disputed(paid.payment_id):
        return "nothing: this payment was disputed since"
    if not _payment_is_new(invoice, paid.payment_id):
        return "nothing: paid already"
    owed = invoice_owed(invoice)
    reason = ""
    if invoice.status != InvoiceStatus.OPEN:
        reason = f"Invoice {invoice} is {invoice.status}"
    elif paid.amount < owed or paid.currency != invoice.currency.upper():
        reason = f"{paid.amount} {paid.currency} was paid for invoice {invoice}, not {owed}"
    if reason:
        _to_be_refunded(paid, invoice, paid.amount, reason)
        return f"to be refunded: {reason}"
    if paid.amount > owed:
        _to_be_refunded(paid, invoice, paid.amount - owed, f"Only {owed} was owed of {invoice}")
    invoice_pay(invoice_id=invoice.pk, now=now)
    reversals_apply(paid.payment_id, now=now)
    return f"invoice {invoice} paid"


def _payment_is_new(invoice: Invoice, payment_id: str) -> bool:
    """Whether a payment of an invoice is told of for the first time; its attempt is paid then.

    It belongs to the attempt that has it, to the one whose answer was lost, or to none of ours.
    """
    attempts = invoice.collections
    attempt = (
        attempts.filter(payment_id=payment_id).first()
        or attempts.filter(state=CollectionState.PENDING, payment_id="").first()
    )
    if attempt is None:
        last = attempts.aggregate(last=Max("attempt"))["last"] or 0
        attempt = Collection(invoice=invoice, attempt=last + 1)
    elif attempt.state == CollectionState.PAID:
        return False
    attempt.payment_id, attempt.state, attempt.error = payment_id, CollectionState.PAID, ""
    attempt.save()
    return True


def _to_be_refunded(
    paid: TopUpPaid | InvoicePaid, of: Invoice | TopUp, amount: Decimal, reason: str
) -> None:
    surplus_record(
        payment_id=paid.payment_id, of=of, amount=amount, currency=paid.currency, reason=reason
    )


def _page(done: str) -> str:
    return f"{settings.PUBLIC_URL}/billing?done={done}"
