"""The only place where money is rounded: the totals of an invoice, half up, to the cent, or to the
whole unit of a currency that has no smaller coin."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from backend.platform.languages import number
from billing.currencies import coin, digits


def to_cents(amount: Decimal, currency: str) -> Decimal:
    return amount.quantize(coin(currency), ROUND_HALF_UP)


def money(amount: Decimal, currency: str) -> str:
    """As people read it in the language that is written in: `1,234.50 EUR`, `1.234,50 EUR`."""
    return f"{figure(amount, currency)} {currency}"


def figure(amount: Decimal, currency: str) -> str:
    """The same without the currency."""
    places = digits(currency) if coin(currency) < 1 else 0
    return number(amount, f"#,##0.{'0' * places}" if places else "#,##0")


@dataclass(frozen=True, slots=True)
class Totals:
    """subtotal - credit_applied + tax = total, each as it can be paid."""

    subtotal: Decimal
    credit_applied: Decimal
    tax: Decimal
    total: Decimal


def totals(*, exact: Decimal, exact_credit: Decimal, tax_rate: Decimal, currency: str) -> Totals:
    """Round once, from the exact sums.

    Credit is rounded as a part of the subtotal, so that usage fully covered by credit leaves
    exactly nothing to pay. Tax is on what is left to pay.
    """
    subtotal = to_cents(exact, currency)
    due = to_cents(exact - exact_credit, currency)
    tax = to_cents(due * tax_rate, currency)
    return Totals(subtotal, subtotal - due, tax, due + tax)
