"""The numbers of a period over all organizations, from the hourly rollups.

Rollups, not the ledger: a month of every organization is too much to sum at each look. They
are priced hour by hour as an invoice prices them, so a report of a closed month whose rollups
agree with the ledger is the sum of its invoices before rounding.

What it cost us is what the engines' hours cost, idle ones too, where every engine of a model has
announced a price; otherwise what finance has estimated.
"""

from collections import defaultdict
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db.models import Case, F, QuerySet, Sum, When

from backend.accounts.models import Organization
from backend.platform.replica import from_replica
from billing.engines.costs import CURRENCY as ENGINE_CURRENCY
from billing.engines.costs import EngineCost, engine_costs
from billing.ledger import bucket_of
from billing.models import BillingAccount, UsageDay, UsageRollup
from billing.periods import Period, month_of
from billing.prices.loading import DEFAULT_CURRENCY, load_book
from billing.prices.usage import PricedBucket, Pricer
from billing.quantities import Kind
from billing.reports.costs import CostBook
from billing.tiers import model_and_tier, model_without_adapter

_ORGANIZATIONS = 200
_SUMS = {"requests": Sum("requests"), **{kind.value: Sum(kind.column) for kind in Kind}}


@dataclass(slots=True)
class Row:
    """Sums of one day, model or organization.

    Attributes:
        cost: ours; None where it is not known for all of the usage.
    """

    name: str
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    revenue: Decimal = Decimal(0)
    cost: Decimal | None = Decimal(0)

    def add(self, priced: PricedBucket, cost: Decimal | None) -> None:
        self.requests += priced.bucket.requests
        self.input_tokens += priced.bucket.counts.input
        self.output_tokens += priced.bucket.counts.output
        self.revenue += priced.cost
        self.cost = None if cost is None or self.cost is None else self.cost + cost

    def add_measured(self, cost: Decimal) -> None:
        """What an hour of engines cost, used or not."""
        if self.cost is not None:
            self.cost += cost

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def margin_percent(self) -> Decimal | None:
        if self.cost is None or not self.revenue:
            return None
        return (self.revenue - self.cost) / self.revenue * 100


@dataclass(slots=True)
class FinanceReport:
    """A period's figures in one currency."""

    period: Period
    currency: str
    total: Row
    days: list[Row]
    models: list[Row]
    organizations: list[tuple[UUID, Row]]
    active_organizations: int = 0
    unpriced: set[str] = field(default_factory=set)
    engines: list[EngineCost] = field(default_factory=list)


@from_replica(fresh=False)
def report(period: Period, *, currency: str = DEFAULT_CURRENCY) -> FinanceReport:
    """Everything the page shows, in one pass over the period's rollups."""
    result = FinanceReport(period, currency, Row("total"), [], [], [])
    days = {day: Row(day) for day in _days(period)}
    models: dict[str, Row] = {}
    organizations: dict[UUID, Row] = defaultdict(lambda: Row(""))
    costs = CostBook(currency)
    result.engines = engine_costs(period) if currency == ENGINE_CURRENCY else []
    measured = {cost.model: cost.by_hour for cost in result.engines}
    for organization_id, priced in _priced(period, result):
        bucket = priced.bucket
        hours = measured.get(_served_as(bucket.model, measured), {})
        cost = Decimal(0) if bucket.start in hours else costs.cost_of(bucket)
        for row in (
            result.total,
            days[f"{bucket.start:%Y-%m-%d}"],
            models.setdefault(bucket.model, Row(bucket.model)),
            organizations[organization_id],
        ):
            row.add(priced, cost)
    for model, by_hour in measured.items():
        for hour, spent in by_hour.items():
            for row in (
                result.total,
                days[f"{hour:%Y-%m-%d}"],
                models.setdefault(model, Row(model)),
            ):
                row.add_measured(spent)
    result.days = list(days.values())
    result.models = sorted(models.values(), key=lambda row: (-row.revenue, row.name))
    result.organizations = _top(organizations)
    result.active_organizations = len(organizations)
    return result


def _served_as(name: str, models: Container[str]) -> str:
    """The model whose engines computed usage of `name`, which may have a tier or an adapter."""
    model, _ = model_and_tier(name)
    return model if model in models else model_without_adapter(model)


def _priced(period: Period, result: FinanceReport) -> Iterator[tuple[UUID, PricedBucket]]:
    """Priced buckets, organization by organization, each in order of time."""
    book = load_book(result.currency)
    read_from = month_of(period.start).start if book.tiered else period.start
    elsewhere = BillingAccount.objects.exclude(currency=result.currency)
    if result.currency == DEFAULT_CURRENCY:
        rollups = UsageRollup.objects.exclude(
            organization_id__in=elsewhere.values("organization_id")
        )
    else:
        accounts = BillingAccount.objects.filter(currency=result.currency)
        rollups = UsageRollup.objects.filter(organization_id__in=accounts.values("organization_id"))
    # Projects are told apart only where one has prices of its own.
    project = Case(
        When(
            organization_id__in=book.organizations_with_project_prices,
            then=F("project_id"),
        )
    )
    by = ("organization_id", "hour", "priced_project", "model")
    rows = (
        rollups.filter(hour__gte=read_from, hour__lt=period.end)
        .annotate(priced_project=project)
        .values(*by)
        .annotate(**{f"sum_{name}": total for name, total in _SUMS.items()})
        .order_by(*by)
    )
    for organization_id, of_one in groupby(
        _by_organizations(rows, read_from, period.end), key=itemgetter("organization_id")
    ):
        pricer = Pricer(organization_id=organization_id, book=book)
        for row in of_one:
            named = {name.removeprefix("sum_"): value for name, value in row.items()}
            del named["organization_id"]
            named["project_id"] = named.pop("priced_project")
            priced = pricer.price(bucket_of(named))
            if priced.bucket.start >= period.start:
                yield organization_id, priced
        result.unpriced |= pricer.unpriced


def _by_organizations(
    rows: QuerySet[UsageRollup, dict[str, Any]], start: datetime, end: datetime
) -> Iterator[dict[str, Any]]:
    """`rows`, some organizations at a time: those of all are more than memory should hold."""
    days = UsageDay.objects.filter(day__gte=start - timedelta(days=1), day__lt=end)
    every = list(
        days.values_list("organization_id", flat=True).distinct().order_by("organization_id")
    )
    for first in range(0, len(every), _ORGANIZATIONS):
        yield from rows.filter(organization_id__in=every[first : first + _ORGANIZATIONS])


def _top(organizations: dict[UUID, Row], *, count: int = 10) -> list[tuple[UUID, Row]]:
    top = sorted(organizations.items(), key=lambda item: (-item[1].revenue, str(item[0])))[:count]
    names = Organization.objects.in_bulk([key for key, _ in top])
    for key, row in top:
        row.name = names[key].name if key in names else str(key)
    return top


def _days(period: Period) -> list[str]:
    count = (period.end - period.start).days
    return [f"{period.start + timedelta(days=n):%Y-%m-%d}" for n in range(count)]
