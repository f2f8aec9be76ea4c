"""Reads that other folders call: what an organization used, and what it costs.

From the hourly rollups, and from the ledger what these lack, so it is complete the moment a
generation has ended, and a month of a large customer is not summed record by record.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal
from uuid import UUID

from backend.accounts.models import APIKey, Project, User
from backend.platform.errors import InvalidRequest
from backend.platform.replica import from_replica
from billing.accounts import terms_of
from billing.models import UsageRecord
from billing.partitions import month_of_id
from billing.periods import Period, month_of, months_between, parse_period
from billing.prices.loading import DEFAULT_CURRENCY, price_book
from billing.prices.usage import Dimension, PricedBucket, Pricer, UsageBucket
from billing.snapshots import one_snapshot
from billing.usage_totals import HOUR, Column, usage_totals

GroupBy = Literal["day", "model", "key", "user", "project"]
GROUPS: tuple[GroupBy, ...] = ("day", "model", "key", "user", "project")

_DIMENSION: dict[str, Dimension] = {"key": "key_id", "user": "user_id", "project": "project_id"}


@dataclass(slots=True)
class UsageTotal:
    """A sum of usage; `cost` is exact, not rounded, and in `currency`, the organization's."""

    requests: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    image_tokens: int = 0
    cached_output_tokens: int = 0
    cost: Decimal = Decimal(0)
    currency: str = DEFAULT_CURRENCY

    @property
    def cost_usd(self) -> Decimal | None:
        """The cost where the organization pays in dollars; nothing is converted."""
        return self.cost if self.currency == "USD" else None

    def add(self, priced: PricedBucket) -> None:
        self.requests += priced.bucket.requests
        self.input_tokens += priced.bucket.counts.input
        self.cached_input_tokens += priced.bucket.counts.cached_input
        self.output_tokens += priced.bucket.counts.output
        self.reasoning_tokens += priced.bucket.counts.reasoning
        self.image_tokens += priced.bucket.counts.image
        self.cached_output_tokens += priced.bucket.counts.cached_output
        self.cost += priced.cost


@dataclass(slots=True)
class UsageRow(UsageTotal):
    """One group. `key` identifies it (a date, a model, an id; "" for usage from the page)."""

    key: str = ""
    label: str = ""


@dataclass(slots=True)
class UsageSummary(UsageTotal):
    """The sum of one period; `data` is empty without a `group_by`."""

    period: str = ""
    data: list[UsageRow] = field(default_factory=list)


@from_replica(fresh=True)
@one_snapshot()
def usage_summary(
    *,
    organization_id: UUID,
    period: str,
    group_by: GroupBy | None = None,
    user_id: UUID | None = None,
    project_id: UUID | None = None,
) -> UsageSummary:
    """What an organization used in a period, priced.

    Args:
        period: `2026-11`, `2026-11-21` or `last_30_days`; UTC.
        group_by: how to group; days come in order and without gaps up to today, everything
            else dearest first.
        user_id: only what this member used.
        project_id: only what was used in this project; of another organization's there is none.
    Raises:
        InvalidRequest: no such period or grouping.
    """
    if group_by is not None and group_by not in GROUPS:
        raise InvalidRequest(f"group_by is one of {', '.join(GROUPS)}.", param="group_by")
    now = datetime.now(UTC)
    span = parse_period(period, now=now)
    currency = terms_of(organization_id).currency
    summary = UsageSummary(period=span.name, currency=currency)
    dimensions = {_DIMENSION[group_by]} if group_by in _DIMENSION else set()
    if user_id is not None:
        dimensions.add("user_id")
    if project_id is not None:
        dimensions.add("project_id")
    key_of = _key_function(group_by)
    rows: dict[str, UsageRow] = {}
    if group_by == "day":
        names = [f"{day:%Y-%m-%d}" for day in _days(span, now)]
        rows = {day: UsageRow(key=day, label=day, currency=currency) for day in names}
    for priced in priced_usage(
        organization_id=organization_id,
        starts=_days(span, span.end) if group_by == "day" else [span.start],
        end=span.end,
        dimensions=dimensions,
        user_id=user_id,
        project_id=project_id,
    ):
        summary.add(priced)
        if group_by is not None:
            key = key_of(priced.bucket)
            rows.setdefault(key, UsageRow(key=key, label=key, currency=currency)).add(priced)
    summary.data = list(rows.values())
    if group_by != "day":
        summary.data.sort(key=lambda row: (-row.cost, -row.output_tokens, row.key))
    _label(summary.data, group_by)
    return summary


def generation_cost(*, organization_id: UUID, generation_id: UUID) -> Decimal | None:
    """What one generation costs before volume tiers, in DEFAULT_CURRENCY; None where it is not in
    the ledger (yet), or used what has no price."""
    record = UsageRecord.objects.filter(
        organization_id=organization_id,
        generation_id=generation_id,
        id_month=month_of_id(generation_id),
    ).first()
    if record is None:
        return None
    pricer = Pricer(
        organization_id=organization_id, book=price_book(organization_id=organization_id)
    )
    used = UsageBucket(
        start=record.occurred_at.replace(minute=0, second=0, microsecond=0),
        model=record.model,
        requests=1,
        counts=record.counts,
        project_id=record.project_id,
    )
    priced = pricer.price(used)
    return None if pricer.unpriced else priced.cost


def priced_usage(
    *,
    organization_id: UUID,
    starts: Sequence[datetime],
    end: datetime,
    dimensions: Collection[Dimension],
    user_id: UUID | None = None,
    project_id: UUID | None = None,
) -> Iterator[PricedBucket]:
    """Usage from the first of `starts` to `end`, in order of time, with its cost.

    Args:
        starts: whole hours at which spans begin; a span is cut where a price changes.
        dimensions: what it is told apart by, and by project where one has its own prices.
        user_id, project_id: only this member's usage, only this project's.
    """
    book = price_book(terms_of(organization_id).currency, organization_id)
    pricer = Pricer(organization_id=organization_id, book=book)
    read_from = starts[0]
    only: dict[Column, list[UUID]] = {}
    if user_id is not None:
        only["user_id"] = [user_id]
    if project_id is not None:
        only["project_id"] = [project_id]
    if book.is_tiered(organization_id):
        # The month's volume decides the tier, of all members together.
        read_from, only = month_of(starts[0]).start, {}
    cuts = book.changes(organization_id=organization_id, start=read_from, end=end)
    if book.is_tiered(organization_id) and dimensions:
        # Who reached a tier first is told apart by the hour; what all pay together is not.
        cuts = {read_from + n * HOUR for n in range(-(-(end - read_from) // HOUR))}
    elif book.is_tiered(organization_id):
        cuts |= months_between(read_from, end)
    totals = usage_totals(
        organization_id=organization_id,
        starts=sorted({read_from, *starts, *cuts}),
        end=end,
        dimensions=pricer.dimensions(dimensions),
        only=only,
    )
    for priced in pricer.price_all(totals):
        bucket = priced.bucket
        if (
            bucket.start >= starts[0]
            and user_id in (None, bucket.user_id)
            and project_id in (None, bucket.project_id)
        ):
            yield priced


def _key_function(group_by: GroupBy | None) -> Callable[[UsageBucket], str]:
    if group_by == "day":
        return lambda bucket: f"{bucket.start:%Y-%m-%d}"
    if group_by == "model":
        return lambda bucket: bucket.model
    dimension = _DIMENSION.get(group_by or "", "model")
    return lambda bucket: str(getattr(bucket, dimension) or "")


def _days(span: Period, until: datetime) -> list[datetime]:
    """The days of a period that have begun by then."""
    days, day = [], span.start
    while day < span.end and day <= until:
        days.append(day)
        day += timedelta(days=1)
    return days


def _label(rows: list[UsageRow], group_by: GroupBy | None) -> None:
    """Give ids their names; what was deleted since keeps its id."""
    if group_by not in _DIMENSION:
        return
    ids = [UUID(row.key) for row in rows if row.key]
    names: dict[UUID, str]
    if group_by == "key":
        names = {
            key.id: f"{key.name} ({key.prefix}…)" for key in APIKey.objects.in_bulk(ids).values()
        }
    elif group_by == "user":
        names = {user.id: user.name or user.email for user in User.objects.in_bulk(ids).values()}
    else:
        names = {project.id: project.name for project in Project.objects.in_bulk(ids).values()}
    for row in rows:
        row.label = names.get(UUID(row.key), row.key) if row.key else "Chat page"
