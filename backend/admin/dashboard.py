"""The first page of /admin: what happened in the last day, counted from the tables.

Counting a day of generations reads many rows, so the figures are kept in the cache for half a
minute. They are shown to those who may see generations; money to those who may see usage.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import Avg, Count, Q, Sum
from django.db.models.functions import TruncHour
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from redis.exceptions import RedisError

from backend.accounts.models import Organization
from backend.generation.models import OPEN_STATES, Generation, GenerationState
from backend.generation.pools.health import pool_health

_PERIOD = timedelta(hours=24)
_CACHE_KEY = "admin:dashboard"
_CACHE_S = 30

# Chart.js draws on a canvas, which knows no CSS classes: unfold resolves its own variables in
# the data, and the grey is one that both themes can bear.
_GREY = "#9ca3af"
_COLOURS = {
    "completed": "var(--color-primary-500)",
    "not completed": "var(--color-base-400)",
}
_CHART_OPTIONS = {
    "animation": False,
    "maintainAspectRatio": False,
    "datasets": {"bar": {"maxBarThickness": 18, "borderRadius": 3}},
    "plugins": {
        "legend": {
            "align": "end",
            "labels": {"color": _GREY, "boxWidth": 8, "boxHeight": 8, "usePointStyle": True},
        }
    },
    "scales": {
        "x": {
            "stacked": True,
            "grid": {"display": False},
            "ticks": {"color": _GREY, "maxRotation": 0, "autoSkip": True},
        },
        "y": {
            "stacked": True,
            "beginAtZero": True,
            "border": {"display": False},
            "ticks": {"color": _GREY, "precision": 0, "maxTicksLimit": 5},
        },
    },
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One card. `href` leads to the rows behind the number."""

    title: str
    value: str
    note: str
    href: str = ""


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Unfold's `DASHBOARD_CALLBACK`."""
    context["title"] = "Overview"
    if not request.user.has_perm("generation.view_generation"):
        return context
    day = _kept_day()
    context["figures"] = [asdict(figure) for figure in _figures(day)]
    context["chart"] = json.dumps(_chart(day))
    context["chart_options"] = json.dumps(_CHART_OPTIONS)
    context["replicas"] = _replicas()
    return context


def _kept_day() -> dict[str, Any]:
    try:
        kept: dict[str, Any] | None = cache.get(_CACHE_KEY)
    except RedisError:
        return _count_day(timezone.now())
    if kept is None:
        kept = _count_day(timezone.now())
        cache.set(_CACHE_KEY, kept, _CACHE_S)
    return kept


def _count_day(now: datetime) -> dict[str, Any]:
    """The period's totals and its hours, oldest first; JSON-like, to be cached."""
    recent = Generation.objects.filter(created_at__gte=now - _PERIOD)
    completed = Q(state=GenerationState.COMPLETED)
    totals = recent.aggregate(
        generations=Count("pk"),
        completed=Count("pk", filter=completed),
        failed=Count("pk", filter=Q(state=GenerationState.FAILED)),
        blocked=Count("pk", filter=Q(state=GenerationState.BLOCKED)),
        users=Count("user", distinct=True),
        organizations=Count("organization", distinct=True),
        input_tokens=Sum("input_tokens", default=0),
        output_tokens=Sum("output_tokens", default=0),
        ttft_ms=Avg("ttft_ms"),
    )
    by_hour = {
        row["hour"]: row
        for row in recent.annotate(hour=TruncHour("created_at"))
        .values("hour")
        .annotate(all=Count("pk"), completed=Count("pk", filter=completed))
    }
    first = (now - _PERIOD).replace(minute=0, second=0, microsecond=0)
    hours = [first + timedelta(hours=n) for n in range(25)]
    nothing = {"all": 0, "completed": 0}
    return {
        **totals,
        "open": Generation.objects.filter(state__in=OPEN_STATES).count(),
        "known_organizations": Organization.objects.count(),
        "hours": [
            {
                "label": f"{hour:%H}:00",
                "completed": by_hour.get(hour, nothing)["completed"],
                "other": by_hour.get(hour, nothing)["all"]
                - by_hour.get(hour, nothing)["completed"],
            }
            for hour in hours
        ],
    }


def _figures(day: dict[str, Any]) -> list[Figure]:
    generations = reverse("admin:generation_generation_changelist")
    ended_badly = day["failed"] + day["blocked"]
    ttft = f"{day['ttft_ms']:,.0f} ms" if day["ttft_ms"] is not None else "none yet"
    return [
        Figure(
            "Generations",
            f"{day['generations']:,}",
            f"{day['open']:,} open now",
            generations,
        ),
        Figure(
            "Tokens",
            f"{day['input_tokens'] + day['output_tokens']:,}",
            f"{day['input_tokens']:,} in, {day['output_tokens']:,} out",
        ),
        Figure("First token", ttft, "on average, from admission"),
        Figure(
            "Failed or blocked",
            f"{ended_badly:,}",
            f"{day['failed']:,} failed, {day['blocked']:,} blocked",
            f"{generations}?state__exact=failed",
        ),
        Figure(
            "Active users",
            f"{day['users']:,}",
            f"in {day['organizations']:,} of {day['known_organizations']:,} organizations",
        ),
    ]


def _chart(day: dict[str, Any]) -> dict[str, Any]:
    def series(label: str, key: str) -> dict[str, Any]:
        return {
            "label": label.capitalize(),
            "data": [hour[key] for hour in day["hours"]],
            "backgroundColor": _COLOURS[label],
        }

    return {
        "labels": [hour["label"] for hour in day["hours"]],
        "datasets": [series("completed", "completed"), series("not completed", "other")],
    }


def _replicas() -> dict[str, Any]:
    try:
        health = pool_health()
    except (RedisError, OSError):
        return {"known": False}
    return {
        "known": True,
        "ready": sum(replica.ready for replica in health),
        "all": len(health),
        "outstanding": sum(replica.outstanding for replica in health),
    }
