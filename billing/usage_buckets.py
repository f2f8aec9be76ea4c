"""The ledger in buckets of time, as OpenAI's organization endpoints page through it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Sum
from django.db.models.functions import TruncDay, TruncHour, TruncMinute

from backend.accounts.principal import Principal
from backend.platform.errors import InvalidRequest
from billing import ledger
from billing.permissions import require_manager
from billing.selectors import priced_usage

WIDTHS = {
    # width: (length, buckets by default, at most)
    "1m": (timedelta(minutes=1), 60, 1440),
    "1h": (timedelta(hours=1), 24, 168),
    "1d": (timedelta(days=1), 7, 180),
}
_TRUNCATE = {"1m": TruncMinute, "1h": TruncHour, "1d": TruncDay}
_DIMENSIONS = {
    "project_id": "project_id",
    "user_id": "user_id",
    "api_key_id": "key_id",
    "model": "model",
}


@dataclass(frozen=True, slots=True)
class Window:
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

    input_tokens: int
    output_tokens: int
    input_cached_tokens: int
    num_model_requests: int
    project_id: UUID | None = None
    user_id: UUID | None = None
    api_key_id: UUID | None = None
    model: str | None = None


@dataclass(slots=True)
class CostResult:
    amount: Decimal
    project_id: UUID | None = None
    line_item: str | None = None


def window(
    *, start_time: int, end_time: int | None, bucket_width: str, limit: int | None, page: str | None
) -> Window:
    """Where a page lies. Times are Unix seconds; buckets begin at whole ones of their width.

    Raises InvalidRequest.
    """
    width, default, most = WIDTHS[bucket_width]
    if limit is not None and not 1 <= limit <= most:
        raise InvalidRequest(f"limit is 1 to {most} for buckets of {bucket_width}.", param="limit")
    now = datetime.now(UTC)
    try:
        start = datetime.fromtimestamp(start_time if page is None else int(page), UTC)
        end = now if end_time is None else datetime.fromtimestamp(end_time, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidRequest("Times are Unix seconds.", param="start_time") from error
    if not 2000 <= start.year < 2200 or not 2000 <= end.year < 2200 or end <= start:
        raise InvalidRequest("end_time must come after start_time.", param="end_time")
    start -= timedelta(seconds=start.timestamp() % width.total_seconds())
    return Window(start, end, width, limit or default)


def usage_buckets(
    *,
    principal: Principal,
    window: Window,
    bucket_width: str,
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
    _check_groups(group_by, _DIMENSIONS)
    columns = [_DIMENSIONS[name] for name in group_by]
    records = ledger.records_between(
        organization_id=principal.organization_id, start=window.start, end=window.page_end
    )
    for column, wanted in (
        ("project_id", project_ids),
        ("user_id", user_ids),
        ("key_id", api_key_ids),
        ("model", models),
    ):
        if wanted:
            records = records.filter(**{f"{column}__in": wanted})
    rows = (
        records.annotate(bucket=_TRUNCATE[bucket_width]("occurred_at", tzinfo=UTC))
        .values("bucket", *columns)
        .annotate(
            total_input=Sum("input_tokens"),
            total_output=Sum("output_tokens"),
            total_cached=Sum("cached_input_tokens"),
            requests=Count("pk"),
        )
        .order_by("bucket", *columns)
    )
    results: dict[datetime, list[UsageResult]] = {start: [] for start in window.starts()}
    for row in rows:
        groups = {name: row[_DIMENSIONS[name]] for name in group_by}
        results[row["bucket"]].append(
            UsageResult(
                row["total_input"],
                row["total_output"],
                row["total_cached"],
                row["requests"],
                **groups,
            )
        )
    return list(results.items())


def cost_buckets(
    *, principal: Principal, window: Window, group_by: Sequence[str]
) -> list[tuple[datetime, list[CostResult]]]:
    """A page of costs by day. Raises: PermissionDenied, InvalidRequest."""
    require_manager(principal)
    _check_groups(group_by, ("project_id", "line_item"))
    by_project, by_item = "project_id" in group_by, "line_item" in group_by
    sums: dict[datetime, dict[tuple[UUID | None, str | None], Decimal]] = {
        start: {} for start in window.starts()
    }
    for priced in priced_usage(
        organization_id=principal.organization_id,
        start=window.start,
        end=window.page_end,
        dimensions=("project_id",) if by_project else (),
    ):
        bucket = priced.bucket
        day = bucket.start.replace(hour=0)
        group = (
            bucket.project_id if by_project else None,
            bucket.model if by_item else None,
        )
        sums[day][group] = sums[day].get(group, Decimal(0)) + priced.cost
    return [
        (
            day,
            [
                CostResult(amount, project_id, item)
                for (project_id, item), amount in sorted(groups.items(), key=str)
            ],
        )
        for day, groups in sums.items()
    ]


def _check_groups(group_by: Sequence[str], known: Sequence[str] | dict[str, str]) -> None:
    unknown = set(group_by) - set(known)
    if unknown:
        raise InvalidRequest(
            f"group_by takes {', '.join(known)}, not {', '.join(sorted(unknown))}.",
            param="group_by",
        )
