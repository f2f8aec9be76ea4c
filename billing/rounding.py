"""The only place where money is rounded: the totals of an invoice, half up, to the cent."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def to_cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


@dataclass(frozen=True, slots=True)
class Totals:
    """subtotal - credit_applied + tax = total, each in whole cents."""

    subtotal: Decimal
    credit_applied: Decimal
    tax: Decimal
    total: Decimal


def totals(*, exact: Decimal, exact_credit: Decimal, tax_rate: Decimal) -> Totals:
    """Round once, from the exact sums.

    Credit is rounded as a part of the subtotal, so that usage fully covered by credit leaves
    exactly nothing to pay. Tax is on what is left to pay.
    """
    subtotal = to_cents(exact)
    due = to_cents(exact - exact_credit)
    tax = to_cents(due * tax_rate)
    return Totals(subtotal, subtotal - due, tax, due + tax)
