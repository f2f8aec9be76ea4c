"""Many requests that find something stale load it once; a payer's book has no other's prices."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from billing.budgets import inline
from billing.models import Price
from billing.prices import Payer
from billing.prices import loading as price_loading
from billing.prices.loading import clear_price_cache, price_book, shared_price_book
from billing.prices.services import BEGINNING, prices_seed
from billing.quantities import Kind
from tests.billing import factories
from tests.billing.test_budgets_inline import PRICES, ask, caller_with_budget, lose_redis

AT_ONCE = 8


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> Callable[[], int]:
    """How often a function is called from now on."""
    function, calls = getattr(module, name), []

    def call(*args: Any, **options: Any) -> Any:
        calls.append(name)
        return function(*args, **options)

    monkeypatch.setattr(module, name, call)
    return lambda: len(calls)


@pytest.mark.django_db(transaction=True)
async def test_lost_counters_are_rebuilt_once_for_all_requests(monkeypatch):
    caller = await caller_with_budget(1000)
    await ask(caller, 1)
    await lose_redis()
    rebuilds = counted(monkeypatch, inline, "rebuild_counters")
    await asyncio.gather(*(ask(caller, 1) for _ in range(AT_ONCE)))
    assert rebuilds() == 1


@pytest.mark.django_db(transaction=True)
async def test_stale_price_book_is_loaded_once_for_all_requests(monkeypatch):
    await sync_to_async(prices_seed)(prices=PRICES)
    clear_price_cache()
    loads = counted(monkeypatch, price_loading, "_book")
    await asyncio.gather(*(shared_price_book() for _ in range(AT_ONCE)))
    assert loads() == 1


@pytest.mark.django_db
def test_price_book_has_prices_of_one_payer():
    prices_seed(prices=PRICES)
    mine, theirs, neither = (factories.organization_new().pk for _ in range(3))
    for owner, amount in ((mine, "1"), (theirs, "2")):
        Price.objects.create(
            organization_id=owner,
            model=factories.MODEL,
            kind=Kind.INPUT,
            tiers=[{"from": 0, "price": amount}],
            effective_from=BEGINNING,
        )
    clear_price_cache()

    def price(owner, *, book_of) -> Decimal:
        book = price_book(organization_id=book_of)
        found = book.price(model=factories.MODEL, kind=Kind.INPUT, payer=Payer(owner), at=BEGINNING)
        return found.tiers[0].price

    assert price(mine, book_of=mine) == 1
    assert price(theirs, book_of=mine) == price(neither, book_of=neither) == 1000
    assert price_book(organization_id=neither) is price_book()
