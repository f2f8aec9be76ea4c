"""The price book as it stands in the database.

A book is cached for a few seconds in each process. That is safe: a price begins at a whole hour
in the future, so a book that is seconds old lacks only prices that are not in force yet (and
first prices of models that had none).
"""

import threading
import time
from decimal import Decimal
from typing import Any

from backend.platform.replica import from_primary
from billing.models import Price, PriceFactor
from billing.prices.book import FactorEntry, Payer, PriceBook, PriceEntry, Tier
from billing.quantities import Kind

CACHE_TTL_S = 10.0
DEFAULT_CURRENCY = "USD"

_lock = threading.Lock()
_books: dict[str, tuple[float, PriceBook]] = {}


def price_book(currency: str = DEFAULT_CURRENCY) -> PriceBook:
    """The book in `currency`, at most `CACHE_TTL_S` seconds old."""
    cached = cached_price_book(currency)
    if cached is not None:
        return cached
    with from_primary():  # it is kept for others than who reads a report
        book = load_book(currency)
    with _lock:
        _books[currency] = (time.monotonic(), book)
    return book


def cached_price_book(currency: str = DEFAULT_CURRENCY) -> PriceBook | None:
    """What this process has cached, if it is fresh. Never touches the database."""
    with _lock:
        cached = _books.get(currency)
    if cached is None or time.monotonic() - cached[0] >= CACHE_TTL_S:
        return None
    return cached[1]


def load_book(currency: str = DEFAULT_CURRENCY) -> PriceBook:
    """The book in `currency`, read now."""
    return PriceBook(
        currency,
        (
            PriceEntry(
                model=row.model,
                kind=Kind(row.kind),
                effective_from=row.effective_from,
                tiers=tiers_from_json(row.tiers),
                owner=Payer(row.organization_id, row.project_id),
            )
            for row in Price.objects.filter(currency=currency).order_by("id")
        ),
        (
            FactorEntry(row.tier, row.effective_from, row.factor)
            for row in PriceFactor.objects.order_by("id")
        ),
    )


def clear_price_cache() -> None:
    """Empty this process's cache; called where prices are written."""
    with _lock:
        _books.clear()


def tiers_from_json(value: list[dict[str, Any]] | None) -> tuple[Tier, ...] | None:
    if value is None:
        return None
    return tuple(Tier(int(tier["from"]), Decimal(tier["price"])) for tier in value)


def tiers_to_json(tiers: tuple[Tier, ...] | None) -> list[dict[str, Any]] | None:
    if tiers is None:
        return None
    return [{"from": tier.start, "price": format(tier.price, "f")} for tier in tiers]
