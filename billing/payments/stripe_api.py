"""Stripe behind the port: customers, Checkout, PaymentIntents, signed events.

Every call that creates something has an idempotency key of ours, so that a repeated one creates
nothing twice. Events are read by what they carry: a payment names our top-up or invoice in its
metadata, whichever of Stripe's events of that payment comes first.
Source: Stripe's API reference, https://docs.stripe.com/api, and its page on webhooks.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import stripe
from stripe.params.checkout import SessionCreateParams

from billing.payments.port import (
    Charge,
    EventRefused,
    Happening,
    InvoiceFailed,
    InvoicePaid,
    MethodAdded,
    PaymentDisputed,
    PaymentMethod,
    PaymentProviderFailed,
    PaymentRefunded,
    ProviderEvent,
    RefundKnown,
    TopUpExpired,
    TopUpPaid,
)
from billing.payments.stripe_currencies import from_smallest, minimum, smallest

_TIMEOUT_S = 10
_EVENT_AGE_S = 300
"""An older signature is refused: a recorded event cannot be played back later."""
# The account at Stripe may serve other products too.
_TOP_UP, _INVOICE, _ATTEMPT = "parley_top_up", "parley_invoice", "parley_attempt"
_REFUSED = (stripe.InvalidRequestError, stripe.IdempotencyError)
_CLOCKS_DIFFER = timedelta(hours=1)
_NAME_OF_CREDIT = "Prepaid credit"


class StripeProvider:
    """Implements `PaymentProvider`."""

    def __init__(self, *, secret_key: str, webhook_secret: str, url: str = "") -> None:
        """
        Args:
            url: where Stripe's API is; empty: Stripe's own.
        """
        self._webhook_secret = webhook_secret
        self._client = stripe.StripeClient(
            secret_key,
            base_addresses={"api": url} if url else {},
            max_network_retries=1,
            http_client=stripe.RequestsClient(timeout=_TIMEOUT_S),
        )

    def minimum(self, currency: str) -> Decimal:
        return minimum(currency)

    def customer_create(self, *, organization_id: UUID, name: str, email: str) -> str:
        with _failures():
            customer = self._client.v1.customers.create(
                params={
                    "name": name,
                    "email": email,
                    "metadata": {"parley_organization": str(organization_id)},
                },
                options={"idempotency_key": f"customer-{organization_id}"},
            )
        return str(customer.id)

    def method_page(self, *, customer_id: str, currency: str, return_url: str) -> str:
        with _failures():
            params: SessionCreateParams = {
                "mode": "setup",
                "customer": customer_id,
                "currency": currency.lower(),
                "success_url": return_url,
                "cancel_url": return_url,
            }
            session = self._client.v1.checkout.sessions.create(params)
        return str(session.url)

    def method_remove(self, *, method_id: str) -> None:
        with _failures(), suppress(stripe.InvalidRequestError):
            self._client.v1.payment_methods.detach(method_id)

    def top_up_page(
        self, *, customer_id: str, top_up_id: UUID, amount: Decimal, currency: str, return_url: str
    ) -> str:
        about = {_TOP_UP: str(top_up_id)}
        with _failures():
            session = self._client.v1.checkout.sessions.create(
                params={
                    "mode": "payment",
                    "customer": customer_id,
                    "client_reference_id": str(top_up_id),
                    "line_items": [
                        {
                            "quantity": 1,
                            "price_data": {
                                "currency": currency.lower(),
                                "unit_amount": smallest(amount, currency),
                                "product_data": {"name": _NAME_OF_CREDIT},
                            },
                        }
                    ],
                    "metadata": about,
                    "payment_intent_data": {"metadata": about},
                    "success_url": return_url,
                    "cancel_url": return_url,
                },
                options={"idempotency_key": f"top-up-{top_up_id}"},
            )
        return str(session.url)

    def invoice_charge(
        self,
        *,
        customer_id: str,
        method_id: str,
        invoice_id: int,
        attempt: int,
        amount: Decimal,
        currency: str,
    ) -> Charge:
        try:
            with _failures(stripe.CardError, *_REFUSED):
                intent = self._client.v1.payment_intents.create(
                    params={
                        "customer": customer_id,
                        "payment_method": method_id,
                        "amount": smallest(amount, currency),
                        "currency": currency.lower(),
                        "confirm": True,
                        "off_session": True,
                        "metadata": {_INVOICE: str(invoice_id), _ATTEMPT: str(attempt)},
                    },
                    options={"idempotency_key": f"invoice-{invoice_id}-{attempt}"},
                )
        except stripe.CardError as error:
            return Charge(_intent_of(error), "failed", error.user_message or "declined")
        except _REFUSED as error:
            state = "small" if error.code == "amount_too_small" else "failed"
            return Charge("", state, error.user_message or "refused")
        return _charge(intent)

    def charge_find(
        self, *, customer_id: str, invoice_id: int, attempt: int, since: datetime
    ) -> Charge | None:
        made = {_INVOICE: str(invoice_id), _ATTEMPT: str(attempt)}
        with _failures():
            intents = self._client.v1.payment_intents.list(
                params={
                    "customer": customer_id,
                    "created": {"gte": int((since - _CLOCKS_DIFFER).timestamp())},
                    "limit": 100,
                }
            )
            for intent in intents.auto_paging_iter():
                if made.items() <= intent.metadata.to_dict().items():
                    return _charge(intent)
        return None

    def event(self, *, body: bytes, signature: str) -> ProviderEvent:
        try:
            stripe.WebhookSignature.verify_header(
                body, signature, self._webhook_secret, _EVENT_AGE_S
            )
            event = json.loads(body)
            return ProviderEvent(
                str(event["id"]), str(event["type"]), self._happening(event["type"], event)
            )
        except (stripe.SignatureVerificationError, ValueError, KeyError, TypeError) as error:
            raise EventRefused("This is not an event that Stripe signed for us.") from error

    def _happening(self, kind: str, event: Mapping[str, Any]) -> Happening | None:
        about = (event.get("data") or {}).get("object")
        if about is None:
            return None  # a thin event, which says only what changed
        match kind:
            case "checkout.session.completed" | "checkout.session.async_payment_succeeded":
                if about["mode"] == "setup":
                    return self._method_added(about)
                if about["mode"] == "payment" and about["payment_status"] == "paid":
                    return _paid(about, about["amount_total"], str(about["payment_intent"]))
            case "checkout.session.expired" | "checkout.session.async_payment_failed":
                top_up = (about.get("metadata") or {}).get(_TOP_UP)
                return TopUpExpired(UUID(top_up)) if top_up else None
            case "payment_intent.succeeded":
                return _paid(about, about["amount_received"], str(about["id"]))
            case "payment_intent.payment_failed":
                invoice = (about.get("metadata") or {}).get(_INVOICE)
                reason = (about.get("last_payment_error") or {}).get("message") or "declined"
                return InvoiceFailed(int(invoice), str(about["id"]), reason) if invoice else None
            case "charge.refunded":
                return _refunded(about)
            case "refund.created" | "refund.updated" | "refund.failed" | "charge.refund.updated":
                return _refund(about)
            case (
                "charge.dispute.created"
                | "charge.dispute.closed"
                | "charge.dispute.funds_withdrawn"
                | "charge.dispute.funds_reinstated"
            ):
                return _disputed(about)
        return None

    def _method_added(self, session: Mapping[str, Any]) -> MethodAdded:
        with _failures():
            intent = self._client.v1.setup_intents.retrieve(
                str(session["setup_intent"]), params={"expand": ["payment_method"]}
            ).to_dict()
        method = intent["payment_method"]
        card = method.get("card")
        label = f"{card['brand'].title()} ···· {card['last4']}" if card else str(method["type"])
        return MethodAdded(str(session["customer"]), PaymentMethod(str(method["id"]), label))


def _charge(intent: stripe.PaymentIntent) -> Charge:
    state = {"succeeded": "paid", "processing": "pending"}.get(intent.status, "failed")
    if state != "failed":
        return Charge(str(intent.id), state)
    error = intent.to_dict().get("last_payment_error") or {}
    return Charge(str(intent.id), state, str(error.get("message") or intent.status))


def _refunded(charge: Mapping[str, Any]) -> PaymentRefunded | None:
    if not charge.get("payment_intent") or not charge["amount_refunded"]:
        return None  # not a payment that was begun here
    amount, currency = _money(charge["amount_refunded"], charge["currency"])
    return PaymentRefunded(str(charge["id"]), str(charge["payment_intent"]), amount, currency)


def _refund(refund: Mapping[str, Any]) -> RefundKnown | None:
    """Source: https://docs.stripe.com/api/refunds/object"""
    if not refund.get("payment_intent") or not refund.get("charge") or not refund["amount"]:
        return None  # not of a payment that was begun here
    amount, currency = _money(refund["amount"], str(refund["currency"]))
    has_failed = refund["status"] in ("failed", "canceled")
    payment_id, charge_id = str(refund["payment_intent"]), str(refund["charge"])
    return RefundKnown(str(refund["id"]), charge_id, payment_id, amount, currency, has_failed)


def _disputed(dispute: Mapping[str, Any]) -> PaymentDisputed | None:
    """An inquiry (`warning_…`) takes no money; it becomes a dispute, or nothing.

    Source: https://docs.stripe.com/api/disputes/object
    """
    status = str(dispute["status"])
    if not dispute.get("payment_intent") or status.startswith("warning_"):
        return None
    amount, currency = _money(dispute["amount"], dispute["currency"])
    is_won = {"won": True, "lost": False}.get(status)
    payment_id = str(dispute["payment_intent"])
    return PaymentDisputed(str(dispute["id"]), payment_id, amount, currency, is_won)


def _money(counted: int, currency: str) -> tuple[Decimal, str]:
    """An amount that Stripe counts in the smallest unit, and the currency as we write it."""
    return from_smallest(counted, currency), currency.upper()


def _paid(about: Mapping[str, Any], counted: int, payment_id: str) -> Happening | None:
    """Of what was paid, by the metadata that we gave it."""
    metadata = about.get("metadata") or {}
    amount, currency = _money(counted, str(about["currency"]))
    if _TOP_UP in metadata:
        return TopUpPaid(UUID(metadata[_TOP_UP]), payment_id, amount, currency)
    if _INVOICE in metadata:
        return InvoicePaid(int(metadata[_INVOICE]), payment_id, amount, currency)
    return None


def _intent_of(error: stripe.CardError) -> str:
    intent = getattr(error.error, "payment_intent", None)
    return str(intent["id"]) if intent else ""


@contextmanager
def _failures(*answers: type[stripe.StripeError]) -> Iterator[None]:
    """What goes wrong is the provider's, except for `answers`, which pass."""
    try:
        yield
    except answers:
        raise
    except stripe.StripeError as error:
        raise PaymentProviderFailed(
            "The payment provider did not answer as it should. Try again in a minute."
        ) from error
