"""The price book: rows are added, never changed; the list is the history."""

from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import AutocompleteSelectFilter, ChoicesDropdownFilter
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from backend.platform.errors import InvalidRequest
from billing.models import ModelCost, Price, PriceFactor
from billing.prices import Payer, Tier
from billing.prices.loading import tiers_from_json
from billing.prices.services import next_hour, price_factor_set, prices_check, prices_set
from billing.quantities import Kind


class PriceForm(forms.ModelForm):
    """A new price. Everything that `prices_set` refuses is an error of the form."""

    tiers_text = forms.CharField(
        label="Price of 1,000 tokens",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        required=False,
        help_text="One price, such as 0.0002. Volume tiers: one a line, tokens of the month and"
        " price, such as 0: 0.0002 and 1000000: 0.0001. Empty: take the organization's or"
        " the project's own price back.",
    )

    class Meta:
        model = Price
        fields = (
            "organization",
            "project",
            "model",
            "kind",
            "currency",
            "effective_from",
            "note",
        )

    def clean_tiers_text(self) -> tuple[Tier, ...] | None:
        text = self.cleaned_data["tiers_text"].strip()
        if not text:
            return None
        try:
            if ":" not in text:
                return (Tier(0, Decimal(text)),)
            pairs = [line.split(":", 1) for line in text.splitlines() if line.strip()]
            return tuple(
                Tier(int(start.replace(",", "").strip()), Decimal(price.strip()))
                for start, price in pairs
            )
        except (InvalidOperation, ValueError) as error:
            raise forms.ValidationError("Enter a price, or lines like 1000000: 0.0001.") from error

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if self.errors:
            return data
        try:
            prices_check(
                model=data["model"],
                prices={Kind(data["kind"]): data["tiers_text"]},
                effective_from=data["effective_from"],
                owner=_owner(data),
                currency=data["currency"],
            )
        except InvalidRequest as error:
            raise forms.ValidationError(error.message) from error
        return data


def _owner(data: dict[str, Any]) -> Payer:
    organization, project = data.get("organization"), data.get("project")
    return Payer(organization and organization.pk, project and project.pk)


class PriceFactorForm(forms.ModelForm):
    """A new factor, which begins in the future."""

    class Meta:
        model = PriceFactor
        fields = ("tier", "factor", "effective_from", "note")

    def clean_effective_from(self) -> datetime:
        moment: datetime = self.cleaned_data["effective_from"]
        if moment != moment.replace(minute=0, second=0, microsecond=0):
            raise forms.ValidationError("A price must begin at a whole hour.")
        if moment <= datetime.now(UTC):
            raise forms.ValidationError("A new factor begins in the future.")
        return moment

    def clean_factor(self) -> Decimal:
        factor: Decimal = self.cleaned_data["factor"]
        if factor < 0:
            raise forms.ValidationError("A factor is zero or more.")
        return factor


@admin.register(Price)
class PriceAdmin(ModelAdmin):
    form = PriceForm
    list_display = (
        "model",
        "kind",
        "show_price",
        "show_for",
        "effective_from",
        "created_by",
        "created_at",
        "note",
    )
    list_filter = (
        ("kind", ChoicesDropdownFilter),
        ("organization", AutocompleteSelectFilter),
        "model",
    )
    list_filter_submit = True
    list_select_related = ("organization", "project", "created_by")
    search_fields = ("model", "note", "organization__name", "project__name")
    autocomplete_fields = ("organization",)
    raw_id_fields = ("project",)
    ordering = ("model", "kind", "-effective_from", "-id")

    @display(description="Price of 1,000 tokens")
    def show_price(self, price: Price) -> str:
        tiers = tiers_from_json(price.tiers)
        if tiers is None:
            return "taken back"
        return ", ".join(
            f"{tier.price.normalize():f}" + (f" from {tier.start:,}" if tier.start else "")
            for tier in tiers
        )

    @display(description="For", ordering="organization__name")
    def show_for(self, price: Price) -> str:
        if price.organization is None:
            return "all organizations"
        if price.project_id is None:
            return price.organization.name
        return f"{price.organization.name}: {price.project or price.project_id}"

    def get_fields(self, request: HttpRequest, obj: Price | None = None) -> tuple[str, ...]:
        price = "tiers_text" if obj is None else "show_price"
        return (
            "organization",
            "project",
            "model",
            "kind",
            price,
            "currency",
            "effective_from",
            "note",
        )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Price | None = None
    ) -> tuple[str, ...]:
        return () if obj is None else ("show_price",)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"effective_from": next_hour(datetime.now(UTC)), "currency": "USD"}

    def save_model(self, request: HttpRequest, obj: Price, form: Any, change: bool) -> None:
        data = form.cleaned_data
        [stored] = prices_set(
            model=data["model"],
            prices={Kind(data["kind"]): data["tiers_text"]},
            effective_from=data["effective_from"],
            owner=_owner(data),
            currency=data["currency"],
            by_user_id=request.user.pk,
            note=data["note"],
        )
        obj.pk = stored.pk

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(PriceFactor)
class PriceFactorAdmin(ModelAdmin):
    """What a service tier costs, as a multiple of each model's price; rows are only added."""

    form = PriceFactorForm
    list_display = ("tier", "factor", "effective_from", "created_by", "created_at", "note")
    list_select_related = ("created_by",)
    fields = ("tier", "factor", "effective_from", "note")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"effective_from": next_hour(datetime.now(UTC))}

    def save_model(self, request: HttpRequest, obj: PriceFactor, form: Any, change: bool) -> None:
        data = form.cleaned_data
        obj.pk = price_factor_set(
            tier=data["tier"],
            factor=data["factor"],
            effective_from=data["effective_from"],
            by_user_id=request.user.pk,
            note=data["note"],
        ).pk

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(ModelCost)
class ModelCostAdmin(ModelAdmin):
    """Rows are added, never changed, as with prices: earlier reports stay as they were."""

    list_display = (
        "model",
        "currency",
        "input_per_1k",
        "output_per_1k",
        "effective_from",
        "created_by",
        "created_at",
    )
    list_filter = ("model",)
    search_fields = ("model",)
    list_select_related = ("created_by",)
    fields = ("model", "currency", "input_per_1k", "output_per_1k", "effective_from")

    def save_model(self, request: HttpRequest, obj: ModelCost, form: Any, change: bool) -> None:
        obj.created_by_id = request.user.pk
        super().save_model(request, obj, form, change)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
