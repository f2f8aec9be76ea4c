"""What a payment provider does for us, in our words; `provider` has the one that is configured.

Amounts are decimals in the currency's usual unit. A provider that cannot be reached, or refuses
what should be possible, raises `PaymentProviderFailed`.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from backend.platform.errors import Conflict, ParleyError


class PaymentsNotConfigured(Conflict):
    """The installation has no payment provider."""

    code = "payments_not_configured"

    def __init__(self) -> None:
        super().__init__("Payment is not configured on this installation. Ask its operator.")


class PaymentProviderFailed(ParleyError):
    """The provider could not be reached or answered with an error."""

    status, type, code = 502, "server_error", "payment_provider_failed"


class EventRefused(ParleyError):
    """An event without the provider's signature, or that cannot be read."""

    status, type, code = 400, "invalid_request_error", "invalid_signature"


@dataclass(frozen=True, slots=True)
class PaymentMethod:
    """What a customer pays with; `label` is what they recognise it by."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Charge:
    """An attempt to take money. `state`: paid, failed, small where the amount is below the
    provider's minimum, or pending where only an event will tell."""

    payment_id: str
    state: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class TopUpPaid:
    top_up_id: UUID
    payment_id: str
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class TopUpExpired:
    top_up_id: UUID


@dataclass(frozen=True, slots=True)
class MethodAdded:
    customer_id: str
    method: PaymentMethod


@dataclass(frozen=True, slots=True)
class InvoicePaid:
    invoice_id: int
    payment_id: str
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class InvoiceFailed:
    invoice_id: int
    payment_id: str
    error: str


@dataclass(frozen=True, slots=True)
class PaymentRefunded:
    """`amount`: by all refunds of the charge so far."""

    charge_id: str
    payment_id: str
    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class RefundKnown:
    """One refund of a charge; `has_failed`: the money came back to us, and that is final."""

    refund_id: str
    charge_id: str
    payment_id: str
    amount: Decimal
    currency: str
    has_failed: bool


@dataclass(frozen=True, slots=True)
class PaymentDisputed:
    """A bank took a payment back; `is_won`: None as long as that is not decided."""

    dispute_id: str
    payment_id: str
    amount: Decimal
    currency: str
    is_won: bool | None


Happening = (
    TopUpPaid
    | TopUpExpired
    | MethodAdded
    | InvoicePaid
    | InvoiceFailed
    | PaymentRefunded
    | RefundKnown
    | PaymentDisputed
)


@dataclass(frozen=True, slots=True)
class ProviderEvent:
    """A verified event; `happening` is None where it says nothing that concerns us."""

    id: str
    type: str
    happening: Happening | None


class PaymentProvider(Protocol):
    """Calls may take seconds: never within a transaction."""

    def minimum(self, currency: str) -> Decimal:
        """The smallest payment that it takes; zero where that is not known beforehand."""

    def customer_create(self, *, organization_id: UUID, name: str, email: str) -> str:
        """Its id. Again for the same organization: the same customer."""

    def method_page(self, *, customer_id: str, currency: str, return_url: str) -> str:
        """The URL where the customer gives a payment method; its event is `MethodAdded`."""

    def method_remove(self, *, method_id: str) -> None:
        """Forget it; one that is gone already is no error."""

    def top_up_page(
        self, *, customer_id: str, top_up_id: UUID, amount: Decimal, currency: str, return_url: str
    ) -> str:
        """The URL where it is paid; its events are `TopUpPaid` or `TopUpExpired`."""

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
        """Charge the method without the customer. The same attempt again is the same charge, and
        must have the same amount and method. What the provider refuses is a failed charge."""

    def charge_find(
        self, *, customer_id: str, invoice_id: int, attempt: int, since: datetime
    ) -> Charge | None:
        """The charge of an attempt whose answer was lost; None where the provider has none."""

    def event(self, *, body: bytes, signature: str) -> ProviderEvent:
        """What an event says. Raises EventRefused."""
