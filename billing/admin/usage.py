"""The ledger, the outbox, reconciliation, and the finance report."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import path
from django.urls.resolvers import URLPattern
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
    RangeDateTimeFilter,
)
from unfold.decorators import display

from backend.platform.model_admins import LargeReadOnlyAdmin, ReadOnlyAdmin
from billing.models import EngineHour, OutboxEvent, ReconciliationRun, UsageRecord, UsageRollup
from billing.reports.view import ReportsView, export_view

STATE_LABELS = {
    "completed": "success",
    "cancelled": "default",
    "blocked": "warning",
    "failed": "danger",
}


@admin.register(UsageRecord)
class UsageRecordAdmin(LargeReadOnlyAdmin):
    list_display = (
        "occurred_at",
        "organization",
        "model",
        "show_state",
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_tokens",
        "audio_seconds",
        "spoken_characters",
        "image_tokens",
        "cached_output_tokens",
        "invoice",
    )
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("organization", AutocompleteSelectFilter),
        ("occurred_at", RangeDateTimeFilter),
    )
    list_filter_submit = True
    list_select_related = ("organization", "invoice")
    search_ids = ("generation_id", "project_id", "user_id", "key_id")
    ordering = ("-occurred_at",)

    @display(description="State", ordering="state", label=STATE_LABELS)
    def show_state(self, record: UsageRecord) -> str:
        return record.state


@admin.register(UsageRollup)
class UsageRollupAdmin(LargeReadOnlyAdmin):
    """The hourly sums; the report that is made of them hangs below."""

    list_display = (
        "hour",
        "organization_id",
        "model",
        "requests",
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_tokens",
        "audio_seconds",
        "spoken_characters",
        "image_tokens",
        "cached_output_tokens",
    )
    list_filter = (("hour", RangeDateTimeFilter),)
    list_filter_submit = True
    search_ids = ("organization_id", "project_id", "user_id", "key_id")
    ordering = ("-hour",)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(ReportsView.as_view(model_admin=self))
        return [
            path("report/", view, name="billing_reports"),
            # Checks the caller itself: admin_view would make it synchronous, and the server
            # would then collect the whole export before sending it.
            path("export/", export_view, name="billing_usage_export"),
            *super().get_urls(),
        ]


@admin.register(EngineHour)
class EngineHourAdmin(LargeReadOnlyAdmin):
    list_display = (
        "hour",
        "model",
        "name",
        "hardware",
        "region",
        "hour_price",
        "up_s",
        "busy_s",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
    )
    list_filter = (("hour", RangeDateTimeFilter), "model")
    list_filter_submit = True
    search_words = ("engine_id", "name")
    ordering = ("-hour",)


@admin.register(OutboxEvent)
class OutboxEventAdmin(LargeReadOnlyAdmin):
    """What is to reach Kafka; topic `usage.rejected` holds what could not be understood."""

    list_display = ("id", "topic", "key", "event_id", "created_at", "published_at")
    list_filter = (("created_at", RangeDateTimeFilter), "topic")
    search_ids = ("event_id",)
    ordering = ("-id",)


@admin.register(ReconciliationRun)
class ReconciliationRunAdmin(ReadOnlyAdmin):
    list_display = ("started_at", "show_result", "differing", "republished", "show_lag")
    ordering = ("-started_at",)

    @display(description="Result", label={"clean": "success", "differs": "danger"})
    def show_result(self, run: ReconciliationRun) -> str:
        return "clean" if run.is_clean else "differs"

    @display(description="Lag", ordering="lag_s")
    def show_lag(self, run: ReconciliationRun) -> str:
        return f"{run.lag_s:.0f} s"

    def has_module_permission(self, request: HttpRequest, *args: Any) -> bool:
        return request.user.has_perm("billing.view_reconciliationrun")
