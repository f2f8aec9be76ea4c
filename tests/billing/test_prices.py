"""The price book in the database: history is kept, and nothing recorded is ever repriced."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, transaction

from backend.platform.errors import InvalidRequest
from billing.models import Price, PriceFactor
from billing.prices import Payer, Tier
from billing.prices.loading import load_book
from billing.prices.services import (
    BEGINNING,
    next_hour,
    price_factor_set,
    prices_seed,
    prices_set,
)
from billing.quantities import Kind, Quantities
from tests.billing import factories
from tests.billing.pricing import cost

pytestmark = pytest.mark.django_db
POOLS = {"m": {"input": "0.0001", "cached_input": "0.00005", "output": "0.0002"}}


def flat(price: str) -> tuple[Tier, ...]:
    return (Tier(0, Decimal(price)),)


def test_seeding_gives_a_model_its_first_prices_and_never_touches_them_again():
    assert prices_seed(prices=POOLS) == 1
    assert prices_seed(prices={"m": {"input": "9"}}) == 0
    charged = cost(
        quantities=Quantities(input=1000, cached_input=1000, output=1000),
        model="m",
        at=datetime.now(UTC),
        book=load_book(),
    )
    assert charged == Decimal("0.00035")


def test_past_price_cannot_be_changed():
    prices_seed(prices=POOLS)
    for moment in (BEGINNING, datetime.now(UTC).replace(minute=0, second=0, microsecond=0)):
        with pytest.raises(InvalidRequest, match="in the future"):
            prices_set(model="m", prices={Kind.INPUT: flat("5")}, effective_from=moment)
    assert Price.objects.count() == 3


def test_kind_with_a_fallback_cannot_get_a_past_price():
    """Cached tokens cost what input costs: a first price of their own would reprice them."""
    prices_seed(prices={"m": {"input": "1", "output": "2"}})
    with pytest.raises(InvalidRequest):
        prices_set(model="m", prices={Kind.CACHED_INPUT: flat("5")}, effective_from=BEGINNING)


def test_organization_price_cannot_begin_in_the_past():
    prices_seed(prices=POOLS)
    acme = factories.organization_new()
    with pytest.raises(InvalidRequest):
        prices_set(
            model="m",
            prices={Kind.INPUT: flat("0")},
            effective_from=BEGINNING,
            owner=Payer(acme.id),
        )


def test_planned_price_can_be_replaced_and_both_stay_in_the_history():
    prices_seed(prices=POOLS)
    soon = next_hour(datetime.now(UTC))
    for amount in ("5", "6"):
        prices_set(model="m", prices={Kind.INPUT: flat(amount)}, effective_from=soon, note=amount)
    charged = cost(
        quantities=Quantities(input=1000),
        model="m",
        at=soon,
        book=load_book(),
    )
    assert charged == 6
    history = Price.objects.filter(kind=Kind.INPUT).order_by("id").values_list("note", flat=True)
    assert list(history) == ["from the pools file", "5", "6"]


@pytest.mark.parametrize(
    "tiers",
    [
        (),
        (Tier(1, Decimal(1)),),
        (Tier(0, Decimal(1)), Tier(0, Decimal(2))),
        (Tier(0, Decimal(-1)),),
        (Tier(0, Decimal("NaN")),),
        (Tier(0, Decimal("0.0000000001")),),
    ],
)
def test_invalid_tiers_are_refused(tiers):
    with pytest.raises(InvalidRequest):
        prices_set(model="m", prices={Kind.INPUT: tiers}, effective_from=BEGINNING)


def test_price_begins_at_a_whole_hour():
    moment = next_hour(datetime.now(UTC)) + timedelta(minutes=30)
    with pytest.raises(InvalidRequest, match="whole hour"):
        prices_set(model="m", prices={Kind.INPUT: flat("1")}, effective_from=moment)


@pytest.mark.parametrize(
    "change",
    [{"tiers": [{"from": 0, "price": "0"}]}, {"project_id": uuid4()}, {"note": "changed"}],
    ids=["tiers", "project", "note"],
)
def test_rows_of_the_book_cannot_be_changed_in_the_database_either(change):
    prices_seed(prices=POOLS)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        Price.objects.update(**change)


def test_model_with_an_adapter_costs_what_the_model_costs_or_a_price_of_its_own():
    prices_seed(prices=POOLS)
    now = datetime.now(UTC)
    used = Quantities(input=1000, cached_input=1000, output=1000)

    def charged(model: str, at: datetime = now) -> Decimal | None:
        return cost(quantities=used, model=model, at=at, book=load_book())

    assert charged("m:poet") == Decimal("0.00035")
    assert charged("m:poet:batch") == Decimal("0.000175")
    later = next_hour(now)
    prices_set(model="m:poet", prices={Kind.OUTPUT: flat("1")}, effective_from=later)
    assert charged("m:poet") == Decimal("0.00035")
    assert charged("m:poet", later) == Decimal("1.00015")
    assert charged("other:poet") is None


def test_batch_costs_its_factor_of_what_the_model_costs_or_a_price_of_its_own():
    prices_seed(prices=POOLS)
    now = datetime.now(UTC)
    used = Quantities(input=1000, cached_input=1000, output=1000)

    def charged(model: str, at: datetime = now) -> Decimal | None:
        return cost(quantities=used, model=model, at=at, book=load_book())

    assert charged("m:batch") == Decimal("0.000175")
    assert charged("m:priority") == Decimal("0.00070")
    with pytest.raises(InvalidRequest) as refusal:
        price_factor_set(tier="batch", factor=Decimal("0.4"), effective_from=BEGINNING)
    assert refusal.value.param == "effective_from"
    later = next_hour(now)
    price_factor_set(tier="batch", factor=Decimal("0.4"), effective_from=later)
    assert charged("m:batch") == Decimal("0.000175")
    assert charged("m:batch", later) == Decimal("0.00014")
    assert later in load_book().changes(
        organization_id=UUID(int=1),
        start=now - timedelta(hours=1),
        end=later + timedelta(hours=1),
    )
    prices_set(model="m:batch", prices={Kind.OUTPUT: flat("1")}, effective_from=later)
    assert charged("m:batch", later) == Decimal("1.00006")
    with pytest.raises(DatabaseError), transaction.atomic():
        PriceFactor.objects.update(factor=1)
