"""What was spent in a month, and counters rebuilt from that and from credit.

Spending comes from the rollups and the ledger's tail (billing/usage_totals.py), so that a rebuild
costs the same whatever the month holds. It is right at every commit, as the ledger is.
"""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now

from backend.platform.redis import sync_client
from billing.budgets import counters
from billing.budgets.counters import CREDIT, FRESH_S, Counter
from billing.budgets.credit import credit_state
from billing.budgets.limits import BudgetLimit, OrganizationLimits
from billing.models import UsageRecord
from billing.periods import month_of
from billing.prices.usage import Dimension
from billing.selectors import priced_usage
from billing.snapshots import one_snapshot

MONTH_CACHE_TTL = timedelta(days=10)
"""How long after its month a budget's counter stays."""
_RECENT = timedelta(seconds=2 * counters.RECENT_S)
# A record is stored moments after its generation ended: an index finds the recent ones by that.
_ENDED_WITHIN = timedelta(hours=1)


def spent_by_limit(
    limits: OrganizationLimits, bound: Sequence[BudgetLimit], *, at: datetime
) -> dict[BudgetLimit, Decimal]:
    """Return what each limit has used up of the month of `at`, exactly."""
    spent = {limit: Decimal(0) for limit in bound}
    if not bound:
        return spent
    dimensions: set[Dimension] = set()
    if any(limit.project_id for limit in bound):
        dimensions.add("project_id")
    if any(limit.key_id for limit in bound):
        dimensions.add("key_id")
    month = month_of(at)
    for priced in priced_usage(
        organization_id=limits.organization_id,
        starts=[month.start],
        end=month.end,
        dimensions=dimensions,
    ):
        bucket = priced.bucket
        for limit in bound:
            if limit.binds(project_id=bucket.project_id, key_id=bucket.key_id):
                spent[limit] += priced.cost
    return spent


def rebuild_counters(
    limits: OrganizationLimits, bound: Sequence[BudgetLimit], *, at: datetime
) -> None:
    """Set the counters of the month of `at`, and credit's; safe at any time, by anyone.

    What was settled is asked before the snapshot is taken, so the snapshot contains it: a
    generation is settled after its record is committed.
    """
    organization_id, currency = limits.organization_id, limits.currency
    monthly = [limit for limit in bound if limit.scope != CREDIT]
    settled = _settled([Counter.at(organization_id, currency, limit.name, at) for limit in bound])
    with one_snapshot():
        spent = spent_by_limit(limits, monthly, at=at)
        state = credit_state(organization_id, at=at) if len(monthly) < len(bound) else None
        contained = settled | _recently_recorded(organization_id)
    fresh_until = at + timedelta(seconds=FRESH_S)
    for limit, amount in spent.items():
        counter = Counter.at(organization_id, currency, limit.name, at)
        expires_at = month_of(at).end + MONTH_CACHE_TTL
        _rebuild(counter, amount, None, at, fresh_until, expires_at, contained)
    if state is not None:
        if state.expires_at is not None:
            fresh_until = min(fresh_until, state.expires_at)
        counter = Counter.at(organization_id, currency, CREDIT, at)
        expires_at = at + MONTH_CACHE_TTL
        _rebuild(counter, Decimal(0), state.remaining, at, fresh_until, expires_at, contained)


def _settled(held: Sequence[Counter]) -> set[str]:
    """The generations whose settlements the counters remember."""
    pipeline = sync_client().pipeline(transaction=False)
    for counter in held:
        pipeline.zrange(counter.keys[counters.SETTLED], 0, -1)
    return {name.decode() for names in pipeline.execute() for name in names}


def _recently_recorded(organization_id: UUID) -> set[str]:
    """Generations that are in the ledger and may yet be settled."""
    recent = UsageRecord.objects.filter(
        Q(recorded_at__gte=Now() - _RECENT),
        organization_id=organization_id,
        occurred_at__gte=Now() - _ENDED_WITHIN,
    )
    return {str(one) for one in recent.values_list("generation_id", flat=True)}


def _rebuild(
    counter: Counter,
    spent: Decimal,
    ceiling: Decimal | None,
    at: datetime,
    fresh_until: datetime,
    expires_at: datetime,
    contained: Collection[str],
) -> None:
    sync_client().eval(
        counters.REBUILD,
        len(counter.keys),
        *counter.keys,
        counters.amount_up(spent, counter.currency),
        "" if ceiling is None else counters.amount_down(ceiling, counter.currency),
        datetime.now(at.tzinfo).timestamp(),
        counters.RECENT_S,
        # A request that rebuilt a counter must find it, so it is fresh for a second at least.
        max(fresh_until.timestamp(), at.timestamp() + 1),
        max(1, int((expires_at - at).total_seconds())),
        *contained,
    )
