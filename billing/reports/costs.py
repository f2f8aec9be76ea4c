"""Our own cost of usage, hour by hour, from the estimates that applied then."""

from bisect import bisect_right
from collections import defaultdict
from datetime import datetime
from decimal import Decimal

from billing.models import ModelCost
from billing.prices.usage import UsageBucket


class CostBook:
    """All estimates of one currency; loaded once for a report."""

    def __init__(self, currency: str) -> None:
        self._by_model: dict[str, list[ModelCost]] = defaultdict(list)
        # Among equals the later written one is last, which is the one that is found.
        for cost in ModelCost.objects.filter(currency=currency).order_by("effective_from", "pk"):
            self._by_model[cost.model].append(cost)

    def cost_of(self, bucket: UsageBucket) -> Decimal | None:
        """What an hour's usage of a model cost us; None where none is entered."""
        cost = self._at(bucket.model, bucket.start)
        if cost is None:
            return None
        counts = bucket.counts
        return (cost.input_per_1k * counts.input + cost.output_per_1k * counts.output) / 1000

    def _at(self, model: str, moment: datetime) -> ModelCost | None:
        known = self._by_model.get(model, [])
        index = bisect_right(known, moment, key=lambda cost: cost.effective_from)
        return known[index - 1] if index else None
