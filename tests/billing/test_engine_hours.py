"""Engines' own counters become hours, and hours a model's cost; the finance page shows both."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from billing.engines.costs import engine_costs
from billing.engines.hours import (
    KEPT,
    Counted,
    EngineSeen,
    engine_hours_note,
    engine_hours_purge,
    price_of,
)
from billing.events import encode
from billing.models import EngineHour, ModelCost
from billing.periods import month_of
from billing.prices.services import prices_seed
from billing.reports.figures import report
from billing.services import usage_record_create
from tests.billing import factories
from tests.billing.test_ingest import ingest, messages

pytestmark = pytest.mark.django_db
TEN = datetime(2026, 10, 5, 10, tzinfo=UTC)
OCTOBER = month_of(TEN)
ENGINE = EngineSeen("e1", factories.MODEL, "one", "H200", "eu", Decimal(3), Counted())


def note(minutes: float, engine: EngineSeen = ENGINE, **counted: Any) -> None:
    seen = replace(engine, counted=replace(Counted(), **counted))
    engine_hours_note([seen], at=TEN + timedelta(minutes=minutes))


def test_hour_has_what_was_counted_in_it_however_often_it_is_noted() -> None:
    note(0.25, up_s=15, busy_s=5, input_tokens=100, output_tokens=10)
    for _ in range(2):
        note(59, up_s=3500, busy_s=1000, input_tokens=900, cached_tokens=300, output_tokens=200)
    note(61, up_s=3660, busy_s=1100, input_tokens=1000, cached_tokens=300, output_tokens=260)
    # Nothing was noted for four hours.
    note(310, up_s=18_600, busy_s=1100, input_tokens=1000, cached_tokens=300, output_tokens=260)
    rows = EngineHour.objects.order_by("hour").values_list(
        "up_s", "busy_s", "input_tokens", "cached_tokens", "output_tokens"
    )
    assert list(rows) == [
        (3500.0, 1000.0, 900, 300, 200),
        (160.0, 100.0, 100, 0, 60),
        (14_940.0, 0.0, 0, 0, 0),
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.floats(0.1, 90), st.integers(0, 10_000)), min_size=1, max_size=12))
def test_hours_of_an_engine_add_up_to_what_it_counted(steps: list[tuple[float, int]]) -> None:
    EngineHour.objects.all().delete()
    minutes, tokens = 0.0, 0
    for more, made in steps:
        minutes, tokens = minutes + more, tokens + made
        note(minutes, up_s=minutes * 60, output_tokens=tokens)
    [cost] = engine_costs(OCTOBER)
    assert cost.up_s == pytest.approx(minutes * 60)
    assert cost.output_tokens == tokens
    assert float(cost.cost or 0) == pytest.approx(minutes * 3 / 60)


def test_restarted_engine_is_another_one() -> None:
    note(10, up_s=600, output_tokens=50)
    note(20, replace(ENGINE, engine_id="e2"), up_s=300, output_tokens=5)
    [cost] = engine_costs(OCTOBER)
    assert (cost.up_s, cost.output_tokens) == (900.0, 55)


def test_costs_name_what_was_idle_and_what_a_million_tokens_cost() -> None:
    note(59, up_s=3600, busy_s=900, input_tokens=300_000, output_tokens=100_000)
    [cost] = engine_costs(OCTOBER)
    assert (cost.hours, cost.busy_percent, cost.cost) == (1.0, 25.0, Decimal(3))
    assert cost.idle_cost == Decimal("2.25")
    assert cost.cost_per_million == Decimal("7.5")


def test_hour_with_an_engine_of_unknown_price_has_no_cost() -> None:
    note(59, up_s=3600)
    note(59, replace(ENGINE, engine_id="e2", hour_price=None), up_s=3600)
    note(119, up_s=7200)
    [cost] = engine_costs(OCTOBER)
    assert cost.cost is None and cost.cost_per_million is None
    assert cost.by_hour == {TEN + timedelta(hours=1): Decimal(3)}


@pytest.mark.parametrize("announced", ["", "free", "NaN", "Infinity", "-1", "1e30"])
def test_price_that_is_none_is_not_known(announced: str) -> None:
    assert price_of(announced) is None


def test_margin_is_of_measured_hours_where_there_are_any_and_of_estimates_elsewhere() -> None:
    prices_seed(prices={factories.MODEL: {"input": "0", "output": "1"}})
    ModelCost.objects.create(model=factories.MODEL, input_per_1k=0, output_per_1k="0.5")
    caller = factories.principal()
    for hour in (0, 1):
        record = usage_record_create(
            facts=factories.facts(
                caller, occurred_at=TEN + timedelta(hours=hour, minutes=5), output_tokens=10_000
            )
        )
        ingest(messages(encode(record)))
    note(59, up_s=3600, busy_s=900, output_tokens=10_000)
    # An hour in which nothing was asked costs too.
    note(179, replace(ENGINE, engine_id="e2"), up_s=1200)
    found = report(OCTOBER)
    assert found.total.revenue == 20
    assert found.total.cost == 3 + 1 + 5
    assert sum(row.cost or 0 for row in found.days) == 9
    [model] = found.models
    assert (model.cost, model.margin_percent) == (9, 55)
    assert [engine.model for engine in found.engines] == [factories.MODEL]


def test_old_hours_are_deleted() -> None:
    note(1, up_s=60)
    note(61, up_s=3660)
    assert engine_hours_purge(now=TEN + KEPT + timedelta(minutes=30)) == 1
    assert EngineHour.objects.count() == 1
