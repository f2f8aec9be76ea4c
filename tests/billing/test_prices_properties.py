"""Pricing has an algebra: exact, additive over splits, monotone. Hypothesis tries to break it."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from billing.prices import LIST, Payer, PriceBook, PriceEntry, Tier, ceiling
from billing.quantities import WHOLES, Kind, Quantities, TokenCounts
from tests.billing.factories import uuid
from tests.billing.pricing import ANYBODY, cost

AT = datetime(2026, 11, 21, 12, tzinfo=UTC)
START = datetime(2000, 1, 1, tzinfo=UTC)

tokens = st.integers(0, 10**12)
quantities = st.builds(Quantities, **{kind.value: tokens for kind in Kind})
prices = st.decimals(0, 10**6, places=9)


@st.composite
def tiers(draw) -> tuple[Tier, ...]:
    starts = [0, *sorted(draw(st.sets(st.integers(1, 10**13), max_size=4)))]
    return tuple(Tier(start, draw(prices)) for start in starts)


@st.composite
def books(draw) -> PriceBook:
    kinds = {*WHOLES, *draw(st.sets(st.sampled_from(list(Kind))))}
    return PriceBook("USD", [PriceEntry("m", kind, START, draw(tiers())) for kind in sorted(kinds)])


def price(book: PriceBook, used: Quantities, before: Quantities | None = None) -> Decimal:
    charged = cost(quantities=used, model="m", at=AT, book=book, used_before=before)
    assert charged is not None
    return charged


@settings(deadline=None)
@given(books(), quantities, quantities, quantities)
def test_price_of_a_whole_equals_the_price_of_its_parts(book, before, first, second):
    assert price(book, first + second, before) == price(book, first, before) + price(
        book, second, before + first
    )


@settings(deadline=None)
@given(books(), quantities, quantities)
def test_more_tokens_never_cost_less(book, used, more):
    assert price(book, used + more) >= price(book, used) >= 0


@settings(deadline=None)
@given(tiers(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_price_is_the_unrounded_sum_over_single_tokens(rates, before, quantity):
    """Against an independent computation in fractions, tier by tier."""
    book = PriceBook("USD", [PriceEntry("m", Kind.INPUT, START, rates)])

    def total_up_to(count: int) -> Fraction:
        ends = [tier.start for tier in rates[1:]] + [max(count, rates[-1].start)]
        return sum(
            (
                Fraction(tier.price) * max(0, min(count, end) - tier.start) / 1000
                for tier, end in zip(rates, ends, strict=True)
            ),
            Fraction(0),
        )

    charged = price(book, Quantities(input=quantity), Quantities(input=before))
    assert Fraction(charged) == total_up_to(before + quantity) - total_up_to(before)
    assert isinstance(charged, Decimal)


@settings(deadline=None)
@given(books(), tokens, tokens, tokens, quantities, st.data())
def test_reservation_covers_the_largest_possible_cost(
    book, input_tokens, max_output, output, before, data
):
    """Whatever its parts, at any volume of the month: never above the ceiling."""
    parts = {part.value: data.draw(tokens) for whole in WHOLES for part in whole.parts}
    counts = TokenCounts(input=input_tokens, output=min(output, max_output), **parts).clamped()
    most = ceiling(
        quantities=Quantities(input=input_tokens, output=max_output),
        model="m",
        payer=ANYBODY,
        at=AT,
        book=book,
    )
    assert price(book, counts.billable(), before) <= most


@settings(deadline=None)
@given(st.builds(TokenCounts, **{kind.value: tokens for kind in Kind}))
def test_every_token_is_priced_once_whatever_was_reported(reported):
    used = reported.clamped().billable()
    for whole in WHOLES:
        kinds = (whole, *whole.parts)
        assert sum(getattr(used, kind) for kind in kinds) == getattr(reported, whole)
    assert all(quantity >= 0 for _, quantity in used.items())


def test_price_of_the_project_goes_before_the_organizations_before_the_lists():
    acme, later = uuid(1), AT + timedelta(hours=1)
    search, chat = Payer(acme, uuid(2)), Payer(acme, uuid(3))

    def row(price: int | None, owner: Payer = LIST, at: datetime = START) -> PriceEntry:
        tiers = None if price is None else (Tier(0, Decimal(price)),)
        return PriceEntry("m", Kind.INPUT, at, tiers, owner)

    rows = [
        row(4), row(3, at=later),
        row(2, Payer(acme)), row(None, Payer(acme), later),
        row(1, search), row(None, search, later + timedelta(hours=1)),
        row(9, Payer(uuid(5), chat.project_id)),  # the pair names a project, not its id alone
    ]  # fmt: skip
    book, thousand = PriceBook("USD", rows), Quantities(input=1000)

    def charged(payer: Payer, at: datetime) -> Decimal | None:
        return cost(quantities=thousand, model="m", payer=payer, at=at, book=book)

    moments = (AT, later - timedelta(microseconds=1), later, later + timedelta(hours=1))
    assert [charged(ANYBODY, at) for at in moments] == [4, 4, 3, 3]
    assert [charged(chat, at) for at in moments] == [2, 2, 3, 3]  # its own was taken back
    assert [charged(search, at) for at in moments] == [1, 1, 1, 3]


def test_usage_without_a_price_is_named_and_not_free():
    book = PriceBook("USD", [PriceEntry("m", Kind.INPUT, START, (Tier(0, Decimal(1)),))])
    assert cost(quantities=Quantities(output=1), model="m", at=AT, book=book) is None
    assert price(book, Quantities(cached_input=1000)) == 1  # costs what input costs
