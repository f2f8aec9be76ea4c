"""What an answer costs where prices depend on the month's volume, without a sum at each end.

A process remembers a customer's volumes of a month and model for a minute and adds what it settles.
What other processes settle meanwhile it does not know, so near the beginning of a tier a cost may
be that of the tier before. Counters are rebuilt exactly within `counters.FRESH_S`, and an invoice
never reads them.
"""

import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import chain
from uuid import UUID

from backend.platform.database import in_reports
from backend.platform.shared_load import SharedLoads
from billing.budgets.counters import FRESH_S
from billing.periods import month_of
from billing.prices import Payer, PriceBook
from billing.prices.usage import UsageBucket
from billing.services import UsageFacts, earlier_this_month, usage_bucket, usage_cost

_Key = tuple[UUID, str, str]
"""The organization, the model and the month."""


@dataclass(frozen=True, slots=True)
class _Volumes:
    """
    Attributes:
        settled: what was settled here since, by hour and project.
    """

    loaded_at: float
    buckets: list[UsageBucket]
    settled: dict[tuple[datetime, UUID | None], UsageBucket] = field(default_factory=dict)

    def add(self, bucket: UsageBucket) -> None:
        key = bucket.start, bucket.project_id
        known = self.settled.get(key)
        counts = bucket.counts if known is None else known.counts + bucket.counts
        self.settled[key] = replace(bucket, counts=counts)


_loads: SharedLoads[_Key, _Volumes] = SharedLoads()
_known: dict[_Key, _Volumes] = {}


async def settled_cost(facts: UsageFacts, book: PriceBook) -> Decimal:
    """Return a generation's cost, at the tier that the month has reached."""
    payer = Payer(facts.organization_id, facts.project_id)
    if not book.has_tiers(model=facts.model, payer=payer, at=facts.occurred_at):
        return usage_cost(facts=facts, book=book, earlier=())
    key = facts.organization_id, facts.model, month_of(facts.occurred_at).name
    volumes = _known.get(key)
    if volumes is None or time.monotonic() - volumes.loaded_at > FRESH_S / 2:
        volumes = await _loads.get(key, partial(_load, key, facts, book))
    earlier = chain(volumes.buckets, volumes.settled.values())
    cost = usage_cost(facts=facts, book=book, earlier=earlier)
    volumes.add(usage_bucket(facts))
    return cost


async def _load(key: _Key, facts: UsageFacts, book: PriceBook) -> _Volumes:
    now = time.monotonic()
    for stale in [one for one, held in _known.items() if now - held.loaded_at > FRESH_S]:
        del _known[stale]
    buckets = await in_reports(earlier_this_month, facts=facts, book=book)
    volumes = _known[key] = _Volumes(now, buckets)
    return volumes
