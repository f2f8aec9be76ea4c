"""Usage read from rollups and what they lack is the ledger's, at every moment, to the cent."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import TruncDay
from django.utils import timezone as django_timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from billing import ledger
from billing.aggregator import unaggregated
from billing.aggregator.ingest import ingest
from billing.budgets.selectors import budgets_list
from billing.budgets.services import budget_set
from billing.events import encode
from billing.models import Price, UsageDay, UsageRecord, UsageRollup, UsageSum
from billing.periods import month_of
from billing.prices.loading import clear_price_cache, price_book
from billing.prices.services import BEGINNING
from billing.prices.usage import Pricer
from billing.quantities import TOKEN_COLUMNS, Kind
from billing.reconciliation.repair import rebuild_rollups
from billing.reconciliation.republish import republish_missing
from billing.selectors import GROUPS, usage_summary
from billing.services import usage_record_create
from billing.usage_buckets import bucket_page, cost_buckets, usage_buckets
from tests.billing import factories
from tests.billing.test_ingest import messages

MONTH = month_of(datetime(2026, 10, 1, tzinfo=UTC))
NOON = datetime(2026, 10, 21, 12, tzinfo=UTC)
KEYS, USERS, PROJECTS = ([uuid4() for _ in range(2)] for _ in range(3))
MODELS = ("m-1", "m-2", "m-without-price")

# --- what may happen -----------------------------------------------------------------------------

moments = st.builds(
    lambda hours, part: NOON + timedelta(hours=hours) + part,
    st.sampled_from([-13, -12, -1, 0, 1, 11, 12]),
    st.sampled_from(
        [
            timedelta(0),
            timedelta(microseconds=-1),
            timedelta(minutes=15),
            timedelta(minutes=29, seconds=59.5),
            timedelta(minutes=30),
        ]
    ),
)
zones = st.sampled_from(
    [UTC, timezone(timedelta(hours=5, minutes=30)), timezone(timedelta(hours=-11))]
)
usage = st.fixed_dictionaries(
    {
        "occurred_at": st.builds(datetime.astimezone, moments, zones),
        "project_id": st.sampled_from(PROJECTS),
        "user_id": st.sampled_from(USERS),
        "key_id": st.sampled_from([None, *KEYS]),
        "model": st.sampled_from(MODELS),
        "input_tokens": st.integers(1000, 3000),
        "cached_input_tokens": st.integers(0, 1000),
        "output_tokens": st.integers(0, 2000),
    }
)
amounts = st.integers(1, 10**10).map(lambda number: Decimal(number).scaleb(-9))
tiers = st.lists(amounts, min_size=1, max_size=3).map(
    lambda prices: [{"from": 2000 * n, "price": str(p)} for n, p in enumerate(prices)]
)
flat = amounts.map(lambda price: [{"from": 0, "price": str(price)}])


def price_rows(tiers_: st.SearchStrategy) -> st.SearchStrategy:
    """Of the list, the organization or one of its projects; from any moment, though services set
    whole hours."""
    return st.fixed_dictionaries(
        {
            "model": st.sampled_from(MODELS[:2]),
            "kind": st.sampled_from(list(Kind)),
            "effective_from": st.just(BEGINNING) | moments,
            "tiers": tiers_,
            "owner": st.sampled_from(["list", "organization", *PROJECTS]),
        }
    )


class World:
    """One organization, what it used, and which of the events have been delivered."""

    def __init__(self) -> None:
        self.owner = factories.principal()
        self.records: list[UsageRecord] = []

    @property
    def organization_id(self) -> UUID:
        return self.owner.organization_id

    def use(self, **changes: Any) -> None:
        facts = factories.facts(self.owner, **changes)
        with transaction.atomic():
            self.records.append(usage_record_create(facts=facts))

    def deliver(self, chosen: Sequence[int]) -> None:
        """Those events in that order, repeated ones too."""
        records = [self.records[n % len(self.records)] for n in chosen] if self.records else []
        if records:
            ingest(messages(*map(encode, records)))

    def reprice(self, *, owner: str | UUID, **row: Any) -> None:
        Price.objects.create(
            organization_id=None if owner == "list" else self.organization_id,
            project_id=owner if isinstance(owner, UUID) else None,
            **row,
        )
        clear_price_cache()


# --- the ledger, record by record ----------------------------------------------------------------


def in_span(
    world: World, start: datetime, end: datetime, **only: Sequence[Any]
) -> list[UsageRecord]:
    return [
        record
        for record in world.records
        if start <= record.occurred_at < end
        and all(getattr(record, column) in values for column, values in only.items() if values)
    ]


def tokens_of(records: Sequence[UsageRecord]) -> tuple[int, int, int, int]:
    return (
        len(records),
        sum(record.input_tokens for record in records),
        sum(record.cached_input_tokens for record in records),
        sum(record.output_tokens for record in records),
    )


def priced_as_invoiced(
    world: World, start: datetime, end: datetime, dimensions: Collection[Any]
) -> list[tuple[Any, Decimal]]:
    """Every hour of the ledger with its cost, by the code that invoices read the ledger with."""
    book = price_book(organization_id=world.organization_id)
    pricer = Pricer(organization_id=world.organization_id, book=book)
    records = ledger.records_between(
        organization_id=world.organization_id, start=month_of(start).start, end=end
    )
    return [
        (priced.bucket, priced.cost)
        for priced in pricer.price_all(
            ledger.buckets(records, dimensions=pricer.dimensions(dimensions))
        )
        if priced.bucket.start >= start
    ]


# --- what must be equal --------------------------------------------------------------------------


def check_summary(world: World, group_by: Any, period: str, user_id: UUID | None) -> None:
    start, end = MONTH.start, MONTH.end
    if period != MONTH.name:
        start = NOON.replace(hour=0)
        end = start + timedelta(days=1)
    summary = usage_summary(
        organization_id=world.organization_id, period=period, group_by=group_by, user_id=user_id
    )
    only: dict[str, Sequence[Any]] = {"user_id": [user_id]} if user_id else {}
    records = in_span(world, start, end, **only)
    totals = (
        summary.requests,
        summary.input_tokens,
        summary.cached_input_tokens,
        summary.output_tokens,
    )
    assert totals == tokens_of(records)

    dimension = {"key": "key_id", "user": "user_id", "project": "project_id"}.get(group_by)
    dimensions = tuple(sorted({name for name in (dimension, user_id and "user_id") if name}))
    costs: dict[str, Decimal] = defaultdict(Decimal)
    for bucket, cost in priced_as_invoiced(world, start, end, dimensions):
        if user_id in (None, bucket.user_id):
            name = {"day": f"{bucket.start:%Y-%m-%d}", "model": bucket.model}.get(
                group_by, str(getattr(bucket, dimension or "key_id") or "")
            )
            costs[name] += cost
    assert summary.cost == sum(costs.values())
    if group_by is not None:
        assert {row.key: row.cost for row in summary.data if row.requests} == costs


def check_buckets(
    world: World, span: Any, width: str, group_by: Sequence[str], only: dict[str, Any]
) -> None:
    column_of = {"api_key_id": "key_id"}
    columns = {
        "project_ids": "project_id", "user_ids": "user_id", "api_key_ids": "key_id",
        "models": "model",
    }  # fmt: skip
    page = bucket_page(
        start_time=span[0], end_time=span[1], bucket_width=width, limit=None, page=None
    )
    answer = usage_buckets(principal=world.owner, page=page, group_by=group_by, **only)
    assert [start for start, _ in answer] == page.starts()
    for start, results in answer:
        end = min(start + page.width, page.page_end)
        wanted = {columns[name]: values for name, values in only.items()}
        expected: dict[tuple[Any, ...], list[UsageRecord]] = defaultdict(list)
        for record in in_span(world, start, end, **wanted):
            group = tuple(getattr(record, column_of.get(name, name)) for name in group_by)
            expected[group].append(record)
        assert {
            tuple(getattr(result, name) for name in group_by): (
                result.num_model_requests,
                result.input_tokens,
                result.input_cached_tokens,
                result.output_tokens,
            )
            for result in results
        } == {group: tokens_of(records) for group, records in expected.items()}
        assert len(results) == len(expected)


def check_costs(world: World, span: Any, group_by: Sequence[str]) -> None:
    page = bucket_page(
        start_time=span[0], end_time=span[1], bucket_width="1d", limit=None, page=None
    )
    by_project = "project_id" in group_by
    dimensions = ("project_id",) if by_project else ()
    expected: dict[datetime, dict[tuple[Any, Any], Decimal]] = {s: {} for s in page.starts()}
    for bucket, cost in priced_as_invoiced(world, page.start, page.page_end, dimensions):
        item = bucket.model if "line_item" in group_by else None
        group = (bucket.project_id if by_project else None, item)
        day = expected[bucket.start.replace(hour=0)]
        day[group] = day.get(group, Decimal(0)) + cost
    _, answer = cost_buckets(principal=world.owner, page=page, group_by=group_by)
    assert {
        day: {(each.project_id, each.line_item): each.amount for each in results}
        for day, results in answer
    } == expected


spans = st.builds(
    lambda start, seconds: (int(start.timestamp()), int(start.timestamp()) + seconds),
    moments,
    st.sampled_from([1, 60, 600, 3600, 5000, 86_400, 100_000, 3 * 86_400]),
)
questions = st.one_of(
    st.tuples(
        st.just(check_summary),
        st.sampled_from([None, *GROUPS]),
        st.sampled_from([MONTH.name, f"{NOON:%Y-%m-%d}"]),
        st.sampled_from([None, *USERS]),
    ),
    st.tuples(
        st.just(check_buckets),
        spans,
        st.sampled_from(["1m", "1h", "1d"]),
        st.lists(st.sampled_from(["project_id", "user_id", "api_key_id", "model"]), unique=True),
        st.fixed_dictionaries(
            {},
            optional={
                "project_ids": st.just(PROJECTS[:1]),
                "user_ids": st.just(USERS[1:]),
                "api_key_ids": st.just(KEYS),
                "models": st.just(list(MODELS[:2])),
            },
        ),
    ),
    st.tuples(
        st.just(check_costs),
        spans,
        st.lists(st.sampled_from(["project_id", "line_item"]), unique=True),
    ),
)
GROUPED = ("organization_id", "project_id", "user_id", "key_id", "model")
SUMMED = ("requests", *TOKEN_COLUMNS)
DAYS = {"start": NOON.replace(hour=0) - timedelta(days=1), "end": MONTH.end}
steps = st.one_of(
    st.tuples(st.just("use"), usage),
    st.tuples(st.just("deliver"), st.lists(st.integers(0, 30), min_size=1, max_size=6)),
    st.tuples(st.just("reprice"), price_rows(flat)),
    st.tuples(st.just("reprice"), price_rows(tiers)),
    st.sampled_from([("rebuild", None), ("republish", None), ("relist", None), ("sweep", None)]),
)


def days_stored() -> set[tuple[Any, ...]]:
    return set(UsageDay.objects.values_list("day", *GROUPED, *SUMMED))


def days_of_rollups() -> set[tuple[Any, ...]]:
    rows = UsageRollup.objects.annotate(day=TruncDay("hour", tzinfo=UTC)).values("day", *GROUPED)
    sums = {f"sum_{name}": Sum(name) for name in SUMMED}
    return set(rows.annotate(**sums).values_list("day", *GROUPED, *sums))


def sums_stored() -> dict[tuple[Any, ...], tuple[int, ...]]:
    """The coarser sums, by unit, detail, beginning and group."""
    rows = UsageSum.objects.values_list("unit", "detail", "start", *GROUPED, *SUMMED)
    return {row[: -len(SUMMED)]: row[-len(SUMMED) :] for row in rows}


def sums_of_rollups() -> dict[tuple[Any, ...], tuple[int, ...]]:
    """The same from the rollups, each added by itself."""
    sums: dict[tuple[Any, ...], tuple[int, ...]] = {}
    for hour, organization, project, user, key, model, *numbers in UsageRollup.objects.values_list(
        "hour", *GROUPED, *SUMMED
    ):
        day, none = hour.replace(hour=0), UUID(int=0)
        for group in (
            ("hour", "model", hour, organization, none, none, None, model),
            ("day", "model", day, organization, none, none, None, model),
            ("day", "project", day, organization, project, none, None, model),
            ("day", "key", day, organization, none, none, key, model),
            ("month", "all", day.replace(day=1), organization, project, user, key, model),
        ):
            before = sums.get(group, (0,) * len(SUMMED))
            sums[group] = tuple(a + b for a, b in zip(before, numbers, strict=True))
    return sums


def happen(world: World, step: str, what: Any) -> None:
    match step:
        case "use":
            world.use(**what)
        case "deliver":
            world.deliver(what)
        case "reprice":
            world.reprice(**what)
        case "rebuild":
            rebuild_rollups(**DAYS)
        case "republish":
            republish_missing(**DAYS, settled_before=django_timezone.now() + timedelta(hours=1))
        case "relist":  # more than need be, which must not matter
            unaggregated.list_records([record.generation_id for record in world.records])
        case "sweep":
            unaggregated.sweep()


@pytest.mark.django_db
@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.data())
def test_totals_equal_the_ledger_after_any_history(data):
    """Events not yet aggregated, late, reordered, repeated; prices that change; any question."""
    with transaction.atomic():
        clear_price_cache()
        world = World()
        for price in data.draw(st.lists(price_rows(flat), max_size=6)):
            world.reprice(**price)
        for price in data.draw(st.lists(price_rows(tiers), max_size=2)):
            world.reprice(**price)
        for used in data.draw(st.lists(usage, min_size=2, max_size=8)):
            world.use(**used)
        for _ in range(data.draw(st.integers(1, 6))):
            happen(world, *data.draw(steps))
            assert days_stored() == days_of_rollups()
            assert sums_stored() == sums_of_rollups()
            check, *question = data.draw(questions)
            with django_timezone.override(data.draw(zones)):
                check(world, *question)
        transaction.set_rollback(True)


@pytest.mark.django_db
def test_budgets_show_what_the_ledger_says_is_spent():
    """Half of it aggregated, half not; of the organization and of one key."""
    world = World()
    for model in MODELS[:2]:
        world.reprice(
            model=model,
            kind=Kind.OUTPUT,
            effective_from=BEGINNING,
            tiers=[{"from": 0, "price": "0.03"}],
            owner="list",
        )
    key = factories.key_of(world.owner)
    budget_set(principal=world.owner, amount=Decimal(5), is_hard=False)
    budget_set(principal=world.owner, amount=Decimal(5), is_hard=True, key_id=key.id)
    now = datetime.now(UTC)
    for number, key_id in enumerate((key.id, KEYS[0], None, key.id)):
        world.use(occurred_at=now, key_id=key_id, model=MODELS[number % 2], output_tokens=number)
    world.deliver([0, 2])

    shown = [state.spent for state in budgets_list(principal=world.owner)[0]]
    assert sorted(shown) == [Decimal("0.00009"), Decimal("0.00018")]
