"""Customers' webhooks and what was delivered to them."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display

from backend.platform.model_admins import LargeReadOnlyAdmin, ReadOnlyAdmin
from billing.models import WebhookDelivery, WebhookEndpoint
from billing.webhooks.services import deliveries_send_again


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ReadOnlyAdmin):
    """The secret is not shown: staff have no use for it."""

    list_display = ("url", "organization", "enabled", "failures", "disabled_at", "created_at")
    list_filter = ("enabled",)
    list_select_related = ("organization",)
    fields = (
        "id",
        "organization",
        "url",
        "types",
        "enabled",
        "failures",
        "failing_since",
        "disabled_at",
        "created_at",
    )
    search_fields = ("url", "organization__name")


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(LargeReadOnlyAdmin):
    list_display = ("created_at", "type", "endpoint", "show_state", "attempts", "error")
    list_filter = (("created_at", RangeDateTimeFilter), "type")
    list_select_related = ("endpoint",)
    search_ids = ("event_id",)
    actions = ("replay",)
    ordering = ("-created_at",)

    @display(
        description="State",
        label={"delivered": "success", "pending": "info", "failed": "danger"},
    )
    def show_state(self, delivery: WebhookDelivery) -> str:
        return delivery.state

    @admin.action(description="Send again", permissions=["replay"])
    def replay(self, request: HttpRequest, queryset: QuerySet[WebhookDelivery]) -> None:
        count = deliveries_send_again(queryset)
        messages.success(request, f"{count} will be sent again.")

    def has_replay_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("billing.change_webhookdelivery")
