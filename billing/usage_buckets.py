"""Usage in buckets of time, as OpenAI's organization endpoints page through it.

Hours and days come from the rollups with what these lack, minutes from the ledger; where a page
ends within an hour, that part of it comes from the ledger too.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from backend.accounts.principal import Principal
from backend.platform.errors import InvalidRequest
from backend.platform.replica import from_replica
from billing.accounts import terms_of
from billing.permissions import require_manager
from billing.prices.usage import DIMENSIONS, Dimension, UsageBucket
from billing.selectors import priced_usage
from billing.snapshots import one_snapshot
from billing.usage_totals import HOUR, Column, usage_totals

WIDTHS = {
    # width: (length, buckets by default, at most)
    "1m": (timedelta(minutes=1), 60, 1440),
    "1h": (timedelta(hours=1), 24, 168),
    "1d": (timedelta(days=1), 7, 180),
}
_COLUMNS: dict[str, Column] = {
    "project_id": "project_id",
    "user_id": "user_id",
    "api_key_id": "key_id",
    "model": "model",
}


@dataclass(frozen=True, slots=True)
class BucketPage:
    """One page: `count` buckets from `start`; `end` is where the request ends."""

    start: datetime
    end: datetime
    width: timedelta
    count: int

    @property
    def page_end(self) -> datetime:
        return min(self.start + self.count * self.width, self.end)

    @property
    def next_page(self) -> str | None:
        return None if self.page_end >= self.end else str(int(self.page_end.timestamp()))

    def starts(self) -> list[datetime]:
        count = -(-(self.page_end - self.start) // self.width)
        return [self.start + n * self.width for n in range(count)]


@dataclass(slots=True)
class UsageResult:
    """Sums of one bucket and group; a dimension not grouped by is None."""

    input_tokens: int = 0
    output_tokens: int = 0
    input_cached_tokens: int = 0
    input_image_tokens: int = 0
    num_model_requests: int = 0
    project_id: UUID | None = None
    user_id: UUID | None = None
    api_key_id: UUID | None = None
    model: str | None = None

    def add(self, bucket: UsageBucket) -> None:
        self.input_tokens += bucket.counts.input
        self.output_tokens += bucket.counts.output
        self.input_cached_tokens += bucket.counts.cached_input
        self.input_image_tokens += bucket.counts.image
        self.num_model_requests += bucket.requests


@dataclass(slots=True)
class CostResult:
    amount: Decimal
    project_id: UUID | None = None
    line_item: str | None = None


def bucket_page(
    *, start_time: int, end_time: int | None, bucket_width: str, limit: int | None, page: str | None
) -> BucketPage:
    """Where a page lies. Times are Unix seconds; buckets begin at whole ones of their width.

    Raises InvalidRequest.
    """
    width, default, maximum = WIDTHS[bucket_width]
    if limit is not None and not 1 <= limit <= maximum:
        raise InvalidRequest(
            f"limit is 1 to {maximum} for buckets of {bucket_width}.", param="limit"
        )
    now = datetime.now(UTC)
    try:
        start = datetime.fromtimestamp(start_time if page is None else int(page), UTC)
        end = now if end_time is None else datetime.fromtimestamp(end_time, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidRequest("Times are Unix seconds.", param="start_time") from error
    if not 2000 <= start.year < 2200 or not 2000 <= end.year < 2200 or end <= start:
        raise InvalidRequest("end_time must come after start_time.", param="end_time")
    start -= timedelta(seconds=start.timestamp() % width.total_seconds())
    return BucketPage(start, end, width, limit or default)


@from_replica(fresh=True)
@one_snapshot()
def usage_buckets(
    *,
    principal: Principal,
    page: BucketPage,
    group_by: Sequence[str],
    project_ids: Sequence[UUID] = (),
    user_ids: Sequence[UUID] = (),
    api_key_ids: Sequence[UUID] = (),
    models: Sequence[str] = (),
) -> list[tuple[datetime, list[UsageResult]]]:
    """A page of usage. Every bucket is there, those without usage empty.

    Raises: PermissionDenied, InvalidRequest.
    """
    require_manager(principal)
    check_groups(group_by, _COLUMNS)
    wanted: dict[Column, Sequence[Any]] = {
        "project_id": project_ids,
        "user_id": user_ids,
        "key_id": api_key_ids,
        "model": models,
    }
    columns = {_COLUMNS[name] for name in group_by}
    sums: dict[datetime, dict[tuple[Any, ...], UsageResult]] = {
        start: {} for start in page.starts()
    }
    for bucket in usage_totals(
        organization_id=principal.organization_id,
        starts=page.starts(),
        end=page.page_end,
        dimensions=[dimension for dimension in DIMENSIONS if dimension in columns],
        only={column: values for column, values in wanted.items() if values},
        from_ledger=page.width < HOUR,
    ):
        groups = {name: getattr(bucket, _COLUMNS[name]) for name in group_by}
        result = sums[bucket.start].setdefault(tuple(groups.values()), UsageResult(**groups))
        result.add(bucket)
    return [(start, list(results.values())) for start, results in sums.items()]


@from_replica(fresh=True)
@one_snapshot()
def cost_buckets(
    *, principal: Principal, page: BucketPage, group_by: Sequence[str]
) -> tuple[str, list[tuple[datetime, list[CostResult]]]]:
    """The organization's currency, and a page of costs by day.

    Raises: PermissionDenied, InvalidRequest.
    """
    require_manager(principal)
    check_groups(group_by, ("project_id", "line_item"))
    by_project, by_item = "project_id" in group_by, "line_item" in group_by
    dimensions: list[Dimension] = ["project_id"] if by_project else []
    sums: dict[datetime, dict[tuple[UUID | None, str | None], Decimal]] = {
        start: {} for start in page.starts()
    }
    for priced in priced_usage(
        organization_id=principal.organization_id,
        starts=page.starts(),
        end=page.page_end,
        dimensions=dimensions,
    ):
        bucket = priced.bucket
        day = bucket.start.replace(hour=0)
        group = (
            bucket.project_id if by_project else None,
            bucket.model if by_item else None,
        )
        sums[day][group] = sums[day].get(group, Decimal(0)) + priced.cost
    days = [
        (
            day,
            [
                CostResult(amount, project_id, item)
                for (project_id, item), amount in sorted(groups.items(), key=str)
            ],
        )
        for day, groups in sums.items()
    ]
    return terms_of(principal.organization_id).currency, days


def check_groups(group_by: Sequence[str], known: Collection[str]) -> None:
    """Raises InvalidRequest for what cannot be grouped by."""
    unknown = set(group_by) - set(known)
    if unknown:
        raise InvalidRequest(
            f"group_by takes {', '.join(known)}, not {', '.join(sorted(unknown))}.",
            param="group_by",
        )
