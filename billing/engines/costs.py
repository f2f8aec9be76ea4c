"""What a model's engines cost in a period, idle hours too."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db.models import Sum

from billing.models import EngineHour
from billing.periods import Period

CURRENCY = "USD"
"""Of what engines announce."""


@dataclass(slots=True)
class EngineCost:
    """Sums of a model's engines over some hours.

    Attributes:
        cost: None where an engine announced no price.
    """

    model: str
    up_s: float = 0.0
    busy_s: float = 0.0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = Decimal(0)
    by_hour: dict[datetime, Decimal] = field(default_factory=dict)

    @property
    def hours(self) -> float:
        return self.up_s / 3600

    @property
    def busy_percent(self) -> float:
        return 100 * min(1.0, self.busy_s / self.up_s) if self.up_s else 0.0

    @property
    def idle_cost(self) -> Decimal | None:
        """Of the seconds in which nothing was computed."""
        if self.cost is None or not self.up_s:
            return self.cost
        return self.cost * Decimal(str(max(0.0, 1 - self.busy_s / self.up_s)))

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost_per_million(self) -> Decimal | None:
        """Of tokens in and out together."""
        if self.cost is None or not self.tokens:
            return None
        return self.cost / self.tokens * 1_000_000


def engine_costs(period: Period) -> list[EngineCost]:
    """By model, the dearest first."""
    rows = (
        EngineHour.objects.filter(hour__gte=period.start, hour__lt=period.end)
        .values("model", "hour", "hour_price")
        .annotate(
            up=Sum("up_s"),
            busy=Sum("busy_s"),
            given=Sum("input_tokens"),
            cached=Sum("cached_tokens"),
            made=Sum("output_tokens"),
        )
        .order_by("hour")
    )
    costs: dict[str, EngineCost] = {}
    unpriced: dict[str, set[datetime]] = defaultdict(set)
    for row in rows:
        model, hour = row["model"], row["hour"]
        cost = costs.setdefault(model, EngineCost(model))
        cost.up_s += row["up"]
        cost.busy_s += row["busy"]
        cost.input_tokens += row["given"]
        cost.cached_tokens += row["cached"]
        cost.output_tokens += row["made"]
        price = row["hour_price"]
        if price is None:
            unpriced[model].add(hour)
        else:
            spent = Decimal(str(row["up"])) * price / 3600
            cost.by_hour[hour] = cost.by_hour.get(hour, Decimal(0)) + spent
    for cost in costs.values():
        _leave_out(cost, unpriced[cost.model])
    return sorted(costs.values(), key=lambda cost: (-(cost.cost or 0), cost.model))


def _leave_out(cost: EngineCost, hours: Iterable[datetime]) -> None:
    """An hour in which one engine had no price has no known cost."""
    for hour in hours:
        cost.by_hour.pop(hour, None)
        cost.cost = None
    if cost.cost is not None:
        cost.cost = sum(cost.by_hour.values(), Decimal(0))
