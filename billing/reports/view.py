"""The finance page of the admin, and its export."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.views.generic import TemplateView
from unfold.views import UnfoldModelAdminViewMixin

from backend.platform.errors import InvalidRequest
from billing.aggregator.lag import aggregation_lag_s
from billing.models import ReconciliationRun
from billing.periods import Period, month_of, parse_period
from billing.relay import outbox
from billing.reports.export import usage_csv
from billing.reports.figures import FinanceReport, Row, report

PERMISSION = "billing.view_usagerollup"
MONTHS_OFFERED = 12

# Chart.js draws on a canvas and knows no classes; unfold puts its own variables in.
_GREY = "#9ca3af"
_AXIS = {
    "grid": {"display": False},
    "ticks": {"color": _GREY, "maxRotation": 0, "maxTicksLimit": 16},
}
_VALUES = {
    "beginAtZero": True,
    "border": {"display": False},
    "ticks": {"color": _GREY, "maxTicksLimit": 6},
}
_OPTIONS: dict[str, Any] = {
    "animation": False,
    "maintainAspectRatio": False,
    "interaction": {"mode": "index", "intersect": False},
    "datasets": {"bar": {"maxBarThickness": 22, "borderRadius": 3}},
    "plugins": {"legend": {"display": False}},
    "scales": {"x": _AXIS, "y": _VALUES},
}
_NO_COST = "every model needs a cost, or its engines a price"
_STACKED = {
    **_OPTIONS,
    "plugins": {
        "legend": {
            "align": "end",
            "labels": {"color": _GREY, "boxWidth": 8, "boxHeight": 8, "usePointStyle": True},
        }
    },
    "scales": {"x": {**_AXIS, "stacked": True}, "y": {**_VALUES, "stacked": True}},
}
_ACROSS = {**_OPTIONS, "indexAxis": "y", "scales": {"x": _VALUES, "y": _AXIS}}


class ReportsView(UnfoldModelAdminViewMixin, TemplateView):
    """Revenue, margin and health of billing for a period."""

    title = "Finance"
    permission_required = (PERMISSION,)
    template_name = "admin/billing/reports.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        period = period_of(self.request)
        figures = report(period)
        run = ReconciliationRun.objects.first()
        waiting, age = outbox.waiting()
        return super().get_context_data(
            report=figures,
            periods=_periods(period),
            period=period,
            cards=_cards(figures),
            revenue_chart=_chart(figures.days, "Revenue", lambda row: round(float(row.revenue), 6)),
            tokens_chart=json.dumps(_tokens(figures.days)),
            models_chart=_chart(
                figures.models[:8], "Revenue", lambda row: round(float(row.revenue), 6), name="all"
            ),
            options=json.dumps(_OPTIONS),
            stacked=json.dumps(_STACKED),
            across=json.dumps(_ACROSS),
            model_headings=("Model", "Tokens", "Revenue", "Cost", "Margin"),
            engine_headings=(
                "Model",
                "Engine hours",
                "Busy",
                "Tokens",
                "Cached",
                "Cost",
                "Of it idle",
                "A million tokens",
            ),
            organization_headings=("Organization", "Requests", "Tokens", "Revenue"),
            run=run,
            lag_s=aggregation_lag_s(),
            outbox_waiting=waiting,
            outbox_age_s=age,
            **kwargs,
        )


async def export_view(request: HttpRequest) -> HttpResponseBase:
    """The ledger's records of the period as CSV."""
    user = await request.auser()
    if not (user.is_active and user.is_staff and await user.ahas_perm("billing.view_usagerecord")):
        raise PermissionDenied
    period = period_of(request)
    return StreamingHttpResponse(
        usage_csv(start=period.start, end=period.end),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="usage-{period.name}.csv"'},
    )


def period_of(request: HttpRequest) -> Period:
    """The period that the page was asked for; the current month where that makes no sense."""
    now = datetime.now(UTC)
    try:
        return parse_period(request.GET.get("period") or f"{now:%Y-%m}", now=now)
    except InvalidRequest:
        return month_of(now)


def _periods(chosen: Period) -> list[tuple[str, str, bool]]:
    """(value, label, is chosen) for the last months and some rolling spans."""
    offered = [("last_7_days", "Last 7 days"), ("last_30_days", "Last 30 days")]
    start = month_of(datetime.now(UTC)).start
    for _ in range(MONTHS_OFFERED):
        offered.append((f"{start:%Y-%m}", f"{start:%B %Y}"))
        start = month_of(start - timedelta(days=1)).start
    return [(value, label, value == chosen.name) for value, label in offered]


def _cards(figures: FinanceReport) -> list[dict[str, str]]:
    total = figures.total
    margin = total.margin_percent
    return [
        {
            "title": "Revenue",
            "value": f"{total.revenue:,.2f} {figures.currency}",
            "note": "before tax and credit",
        },
        {
            "title": "Margin",
            "value": "not known" if margin is None else f"{margin:.1f} %",
            "note": _NO_COST if margin is None else f"cost {total.cost:,.2f}",
        },
        {
            "title": "Tokens",
            "value": f"{total.tokens:,}",
            "note": f"{total.input_tokens:,} in, {total.output_tokens:,} out",
        },
        {
            "title": "Requests",
            "value": f"{total.requests:,}",
            "note": f"by {figures.active_organizations} organizations",
        },
    ]


def _chart(rows: list[Row], label: str, value: Any, *, name: str = "day") -> str:
    return json.dumps(
        {
            "labels": [row.name[5:] if name == "day" else row.name for row in rows],
            "datasets": [
                {
                    "label": label,
                    "data": [value(row) for row in rows],
                    "backgroundColor": "var(--color-primary-500)",
                }
            ],
        }
    )


def _tokens(days: list[Row]) -> dict[str, Any]:
    return {
        "labels": [row.name[5:] for row in days],
        "datasets": [
            {
                "label": "Input",
                "data": [row.input_tokens for row in days],
                "backgroundColor": "var(--color-base-400)",
            },
            {
                "label": "Output",
                "data": [row.output_tokens for row in days],
                "backgroundColor": "var(--color-primary-500)",
            },
        ],
    }
