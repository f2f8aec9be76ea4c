"""Staff pages of the gateway: generations, and the pools with their live health."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import path
from django.urls.resolvers import URLPattern
from django.views.generic import TemplateView
from redis.exceptions import RedisError
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
    DropdownFilter,
    RangeDateTimeFilter,
)
from unfold.decorators import display
from unfold.views import UnfoldModelAdminViewMixin

from backend.generation.models import Generation
from backend.generation.pools.config import PoolConfig, load_pools
from backend.generation.pools.health import ReplicaHealth, pool_health
from backend.generation.pools.pending import pending_models
from backend.platform.model_admins import LargeReadOnlyAdmin

STATE_LABELS = {
    "queued": "info",
    "running": "info",
    "completed": "success",
    "cancelled": "default",
    "blocked": "warning",
    "failed": "danger",
}


class ModelFilter(DropdownFilter):
    """The configured models: asking a large table for its distinct values would scan it."""

    title = "Model"
    parameter_name = "model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(pool.id, pool.name) for pool in load_pools().models]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        return queryset.filter(model=self.value()) if self.value() else queryset


class PoolsView(UnfoldModelAdminViewMixin, TemplateView):
    """Which replicas take work now, as the web processes last saw them."""

    title = "Pools"
    permission_required = ("generation.view_generation",)
    template_name = "admin/generation/pools.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        health: list[ReplicaHealth] = []
        failure = ""
        try:
            health = pool_health()
        except (RedisError, OSError) as error:
            failure = f"Redis does not answer, so the health is not known: {error}"
        return super().get_context_data(
            pools=[(pool, _of(pool, health)) for pool in load_pools().models],
            pending=pending_models(),
            headings=("Replica", "State", "Generations", "Detail", "Address", "Last seen"),
            failure=failure,
            **kwargs,
        )


def _of(pool: PoolConfig, health: list[ReplicaHealth]) -> list[ReplicaHealth]:
    return [replica for replica in health if replica.pool == pool.id]


@admin.register(Generation)
class GenerationAdmin(LargeReadOnlyAdmin):
    list_display = (
        "created_at",
        "show_state",
        "model",
        "organization",
        "user",
        "endpoint",
        "input_tokens",
        "output_tokens",
        "ttft_ms",
        "duration_ms",
    )
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ModelFilter,
        ("organization", AutocompleteSelectFilter),
        ("created_at", RangeDateTimeFilter),
    )
    list_filter_submit = True
    list_select_related = ("organization", "user")
    search_ids = ("pk", "conversation_id", "message_id")
    search_email = "user__email"
    search_words = ("request_id",)
    ordering = ("-created_at",)

    @display(description="State", ordering="state", label=STATE_LABELS)
    def show_state(self, generation: Generation) -> str:
        return generation.state

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(PoolsView.as_view(model_admin=self))
        return [path("pools/", view, name="generation_pools"), *super().get_urls()]
