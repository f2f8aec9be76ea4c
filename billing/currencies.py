"""Currencies: their codes and the digits of their amounts.

Codes and digits are those of ISO 4217 (the package `iso4217` has its table). A code is checked
where it is set, by `CurrencyField`. What the payment provider counts otherwise is in
`payments/stripe_currencies.py`.
"""

from decimal import Decimal
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from iso4217 import Currency

from backend.platform.errors import InvalidRequest

CENT, UNIT = Decimal("0.01"), Decimal(1)
_DIGITS = {each.code: each.exponent for each in Currency if each.exponent in (0, 2, 3)}
_WITHOUT_COINS = frozenset({"MGA"})
"""Its coins are fifths, which no payment provider takes."""


def currency_code(text: str, *, param: str = "currency") -> str:
    """The code in capitals. Raises InvalidRequest where ISO 4217 has no such currency."""
    code = text.strip().upper()
    if code not in _DIGITS:
        raise InvalidRequest(f"{text!r} is no currency of ISO 4217, such as EUR.", param=param)
    return code


def digits(currency: str) -> int:
    """Return the digits after the point; 2 for a code from before codes were checked."""
    return _DIGITS.get(currency.upper(), 2)


def coin(currency: str) -> Decimal:
    """The smallest amount that can be paid. Of currencies with three digits it is a hundredth:
    card networks take no thousandths (https://docs.stripe.com/currencies#three-decimal)."""
    currency = currency.upper()
    return CENT if digits(currency) and currency not in _WITHOUT_COINS else UNIT


def validate_currency(value: str) -> None:
    try:
        currency_code(value)
    except InvalidRequest as error:
        raise ValidationError(error.message) from error


class CurrencyField(models.CharField):
    """A code of ISO 4217, in capitals. Forms say what is wrong; a save that no form has checked
    raises InvalidRequest."""

    default_validators = [validate_currency]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"max_length": 3, **kwargs})

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        return text.strip().upper() if isinstance(text, str) else text

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        code = currency_code(getattr(model_instance, self.attname), param=self.name)
        setattr(model_instance, self.attname, code)
        return code
