"""Terms of payment, budgets and their alerts, prepaid credit."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.decorators import display

from backend.platform.errors import InvalidRequest, ParleyError
from backend.platform.model_admins import ReadOnlyAdmin
from billing.budgets.credit_services import (
    clear_credit_cache,
    credit_check,
    credit_grant,
    lock_credit,
)
from billing.budgets.limits import clear_limits_cache
from billing.currency_change import currency_change_check
from billing.models import BillingAccount, Budget, BudgetAlert, CreditEntry, CreditKind


class BillingAccountForm(forms.ModelForm):
    class Meta:
        model = BillingAccount
        fields = "__all__"  # noqa: DJ007

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                currency_change_check(
                    organization_id=data["organization"].pk, currency=data["currency"]
                )
            except ParleyError as error:
                self.add_error("currency", error.message)
        return data


@admin.register(BillingAccount)
class BillingAccountAdmin(ModelAdmin):
    form = BillingAccountForm
    list_display = ("organization", "currency", "is_prepaid", "tax_rate", "email")
    list_filter = ("is_prepaid",)
    list_select_related = ("organization",)
    search_fields = ("organization__name", "legal_name", "email")
    autocomplete_fields = ("organization",)

    def save_model(
        self, request: HttpRequest, obj: BillingAccount, form: Any, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        clear_credit_cache(obj.organization_id)


class BudgetForm(forms.ModelForm):
    class Meta:
        model = Budget
        fields = ("organization", "project", "key", "amount", "is_hard")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        for name in ("project", "key"):
            part = data.get(name)
            if part is not None and part.organization != data.get("organization"):
                self.add_error(name, "It belongs to another organization.")
        return data


@admin.register(Budget)
class BudgetAdmin(ModelAdmin):
    """A changed budget binds every process within ten seconds."""

    form = BudgetForm
    list_display = ("organization", "show_scope", "amount", "is_hard")
    list_filter = ("is_hard", ("organization", AutocompleteSelectFilter))
    list_filter_submit = True
    list_select_related = ("organization", "project", "key")
    search_fields = ("organization__name",)
    autocomplete_fields = ("organization",)
    raw_id_fields = ("project", "key")

    @display(description="For")
    def show_scope(self, budget: Budget) -> str:
        part = budget.key or budget.project
        return "the organization" if part is None else f"{budget.scope} {part}"

    def save_model(self, request: HttpRequest, obj: Budget, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        clear_limits_cache(obj.organization_id)


@admin.register(BudgetAlert)
class BudgetAlertAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "budget", "month", "threshold", "spent")
    list_select_related = ("budget",)


SAME_GRANT = timedelta(minutes=1)


class CreditForm(forms.ModelForm):
    class Meta:
        model = CreditEntry
        fields = ("organization", "amount", "expires_at", "note")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                credit_check(amount=data["amount"], expires_at=data.get("expires_at"))
            except InvalidRequest as error:
                raise forms.ValidationError(error.message) from error
            self._refuse_a_second_sending(data)
        return data

    def _refuse_a_second_sending(self, data: dict[str, Any]) -> None:
        """A form that is sent twice grants credit once. The lock holds until the grant is made."""
        lock_credit(data["organization"].pk)
        same = CreditEntry.objects.filter(
            kind=CreditKind.GRANT,
            organization=data["organization"],
            amount=data["amount"],
            note=data["note"],
            created_at__gt=timezone.now() - SAME_GRANT,
        )
        if same.exists():
            raise forms.ValidationError(
                "The same credit was granted less than a minute ago. If it is meant twice, say so"
                " in the note."
            )


@admin.register(CreditEntry)
class CreditEntryAdmin(ModelAdmin):
    """The credit ledger. Adding an entry grants credit; everything else is written by billing."""

    form = CreditForm
    list_display = (
        "created_at",
        "organization",
        "kind",
        "amount",
        "currency",
        "expires_at",
        "invoice",
        "note",
    )
    list_filter = ("kind", ("organization", AutocompleteSelectFilter))
    list_filter_submit = True
    list_select_related = ("organization", "invoice")
    autocomplete_fields = ("organization",)

    def save_model(self, request: HttpRequest, obj: CreditEntry, form: Any, change: bool) -> None:
        stored = credit_grant(
            organization_id=obj.organization_id,
            amount=obj.amount,
            expires_at=obj.expires_at,
            note=obj.note,
            by_user_id=request.user.pk,
        )
        obj.pk = stored.pk

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
