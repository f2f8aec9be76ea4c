"""Tokens of images, from what an upstream reports to what they cost."""

from datetime import UTC, datetime
from decimal import Decimal

import msgspec
import pytest

from backend.generation.pools.chunks import ReportedUsage
from billing.prices.book import PriceBook, PriceEntry, Tier
from billing.quantities import Kind, TokenCounts
from tests.billing.pricing import cost

AT = datetime(2026, 1, 1, tzinfo=UTC)
PRICES = {Kind.INPUT: "1", Kind.CACHED_INPUT: "0.1", Kind.IMAGE: "10", Kind.OUTPUT: "1"}


def counted(**details: object) -> TokenCounts:
    reported = {"prompt_tokens": 1000, "completion_tokens": 0, "prompt_tokens_details": details}
    usage = msgspec.convert(reported, ReportedUsage).counted()
    return TokenCounts.of(usage).clamped()


def charged(counts: TokenCounts, *kinds: Kind) -> Decimal:
    entries = [PriceEntry("m", kind, AT, (Tier(0, Decimal(PRICES[kind])),)) for kind in kinds]
    book = PriceBook("USD", entries)
    amount = cost(quantities=counts.billable(), model="m", at=AT, book=book)
    assert amount is not None
    return amount


def test_image_tokens_have_a_price_of_their_own_or_that_of_the_input():
    seen = counted(cached_tokens=0, image_tokens=400)
    assert seen.image == 400
    assert charged(seen, *PRICES) == Decimal("4.6")
    assert charged(seen, Kind.INPUT) == 1


def test_image_tokens_that_the_cache_had_are_billed_as_cached():
    seen = counted(cached_tokens=500, image_tokens=400, cached_tokens_details={"image_tokens": 300})
    assert (seen.cached_input, seen.image) == (500, 100)
    assert charged(seen, *PRICES) == Decimal("0.4") + Decimal("0.05") + 1


@pytest.mark.parametrize(("cached", "images", "billed"), [(900, 400, 100), (1000, 400, 0)])
def test_image_tokens_are_never_more_than_the_cache_has_left(cached, images, billed):
    """Of an upstream that does not say how many of the cached ones are of images."""
    assert counted(cached_tokens=cached, image_tokens=images).image == billed
