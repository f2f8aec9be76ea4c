"""The installation's taxes by country: the rate, and the seller's tax id there.

Plain data from one environment variable; `backend.settings` imports it, so it needs no Django.
"""

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

_ENTRY = re.compile(r"([A-Z]{2})=([^:]+)(?::(.+))?")


@dataclass(frozen=True, slots=True)
class CountryTaxes:
    """What customers of one country are charged.

    Attributes:
        rate: 0.19 is 19 %.
        seller_tax_id: printed on their invoices; empty: the seller's general one.
    """

    rate: Decimal
    seller_tax_id: str = ""


def parse_taxes(text: str) -> dict[str, CountryTaxes]:
    """By country. `text`: `DE=0.19:DE123456789, CH=0.081`. Raises ValueError, with the entry."""
    taxes: dict[str, CountryTaxes] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        found = _ENTRY.fullmatch(entry)
        try:
            rate = Decimal(found[2]) if found else Decimal(-1)
        except InvalidOperation:
            rate = Decimal(-1)
        if found is None or not 0 <= rate <= 1:
            raise ValueError(f"{entry!r} is not COUNTRY=RATE or COUNTRY=RATE:TAX_ID, as DE=0.19")
        taxes[found[1]] = CountryTaxes(rate, (found[3] or "").strip())
    return taxes
