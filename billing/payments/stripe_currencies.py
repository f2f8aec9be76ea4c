"""How Stripe counts money: in a currency's minor unit, with exceptions from ISO 4217.

Source: https://docs.stripe.com/currencies ("Zero-decimal", "Three-decimal", "Special cases",
"Minimum and maximum charge amounts"). HUF and TWD are whole in payouts only, which are not made
here.
"""

from decimal import Decimal

from billing.currencies import digits

# The ariary is counted whole; the krona and the shilling in hundredths, which are always 00.
_DIGITS = {"MGA": 0, "ISK": 2, "UGX": 2}
_MINIMUMS = {
    code: Decimal(amount)
    for amount, codes in {
        "0.30": "GBP",
        "0.50": "USD AUD BRL CAD CHF EUR INR NZD SGD",
        "1.00": "BGN",
        "2.00": "AED MYR PLN RON",
        "2.50": "DKK",
        "3.00": "NOK SEK",
        "4.00": "HKD",
        "10.00": "MXN THB",
        "15.00": "CZK",
        "50": "JPY",
        "175.00": "HUF",
    }.items()
    for code in codes.split()
}


def smallest(amount: Decimal, currency: str) -> int:
    """An amount as the API counts it. Raises ValueError where it is not whole minor units."""
    counted = amount.scaleb(_stripe_digits(currency))
    if counted != counted.to_integral_value():
        raise ValueError(f"{amount} {currency} is not payable: it has too many digits")
    return int(counted)


def from_smallest(counted: int, currency: str) -> Decimal:
    """The amount that the API counts so."""
    return Decimal(counted).scaleb(-_stripe_digits(currency))


def minimum(currency: str) -> Decimal:
    """The smallest charge; zero where Stripe names none and tells only when asked."""
    return _MINIMUMS.get(currency.upper(), Decimal(0))


def _stripe_digits(currency: str) -> int:
    code = currency.upper()
    return _DIGITS.get(code, digits(code))
