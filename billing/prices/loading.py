"""The price book as it stands in the database: of one payer, or of everybody.

A book is cached for a few seconds in each process. That is safe: a price begins at a whole hour
in the future, so a book that is seconds old lacks only prices that are not in force yet (and
first prices of models that had none). A request needs the list and its own organization's prices
only; all customers without prices of their own share one book.
"""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from backend.platform.database import in_database
from backend.platform.replica import from_primary
from backend.platform.shared_load import SharedLoads
from billing.models import Price, PriceFactor
from billing.prices.book import FactorEntry, Payer, PriceBook, PriceEntry, Tier
from billing.quantities import Kind

CACHE_TTL_S = 10.0
DEFAULT_CURRENCY = "USD"


@dataclass(frozen=True, slots=True)
class _Cached:
    """The list's book in a currency, who has prices beside it, and the books of those in use."""

    loaded_at: float
    listed: PriceBook
    owners: frozenset[UUID]
    own: dict[UUID, PriceBook]


_lock = threading.Lock()
_books: dict[str, _Cached] = {}
_loads: SharedLoads[tuple[str, UUID | None], PriceBook] = SharedLoads()


def price_book(currency: str = DEFAULT_CURRENCY, organization_id: UUID | None = None) -> PriceBook:
    """The book in `currency`, at most `CACHE_TTL_S` seconds old, with the organization's prices."""
    book = cached_price_book(currency, organization_id)
    if book is not None:
        return book
    with from_primary():  # it is kept for others than who reads a report
        cached = _fresh(currency)
        if cached is None:
            rows = Price.objects.filter(currency=currency)
            owners = rows.filter(organization__isnull=False).values_list("organization_id")
            cached = _Cached(
                time.monotonic(),
                _book(currency, rows.filter(organization=None)),
                frozenset(owner for (owner,) in owners.order_by().distinct()),
                {},
            )
            with _lock:
                _books[currency] = cached
        if organization_id is None or organization_id not in cached.owners:
            return cached.listed
        mine = Q(organization=None) | Q(organization_id=organization_id)
        book = _book(currency, Price.objects.filter(mine, currency=currency))
    with _lock:
        cached.own[organization_id] = book
    return book


async def shared_price_book(
    currency: str = DEFAULT_CURRENCY, organization_id: UUID | None = None
) -> PriceBook:
    """The same for a request; those that find it stale together load it once."""
    book = cached_price_book(currency, organization_id)
    if book is not None:
        return book
    return await _loads.get(
        (currency, organization_id), lambda: in_database(price_book, currency, organization_id)
    )


def cached_price_book(
    currency: str = DEFAULT_CURRENCY, organization_id: UUID | None = None
) -> PriceBook | None:
    """What this process has cached, if it is fresh. Never touches the database."""
    cached = _fresh(currency)
    if cached is None:
        return None
    if organization_id is None or organization_id not in cached.owners:
        return cached.listed
    with _lock:
        return cached.own.get(organization_id)


def _fresh(currency: str) -> _Cached | None:
    with _lock:
        cached = _books.get(currency)
    if cached is None or time.monotonic() - cached.loaded_at >= CACHE_TTL_S:
        return None
    return cached


def load_book(currency: str = DEFAULT_CURRENCY) -> PriceBook:
    """Everybody's book in `currency`, read now."""
    return _book(currency, Price.objects.filter(currency=currency))


def _book(currency: str, prices: QuerySet[Price]) -> PriceBook:
    return PriceBook(
        currency,
        _entries(prices),
        (
            FactorEntry(row.tier, row.effective_from, row.factor)
            for row in PriceFactor.objects.order_by("id")
        ),
    )


def _entries(prices: QuerySet[Price]) -> Iterator[PriceEntry]:
    for row in prices.order_by("id"):
        yield PriceEntry(
            model=row.model,
            kind=Kind(row.kind),
            effective_from=row.effective_from,
            tiers=tiers_from_json(row.tiers),
            owner=Payer(row.organization_id, row.project_id),
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
