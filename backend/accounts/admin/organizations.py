"""Organizations with their members and projects, and the plans."""

from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.forms import BaseInlineFormSet, ModelForm
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import RangeDateTimeFilter, RelatedDropdownFilter
from unfold.decorators import display

from backend.accounts.admin.suspension import SuspensionActions, Suspensions
from backend.accounts.models import Membership, Organization, Plan, Project, Role, User
from backend.audit.actions import Action
from backend.audit.services import record, staff


class KeepsAnOwner(BaseInlineFormSet):
    """The form's share of the rule of members.py: an organization always has an owner."""

    def clean(self) -> None:
        super().clean()
        staying = [
            form.cleaned_data
            for form in self.forms
            if form.is_valid() and form.cleaned_data and not form.cleaned_data.get("DELETE")
        ]
        if not any(data.get("role") == Role.OWNER for data in staying):
            raise ValidationError("An organization needs at least one owner.")


class Members(TabularInline):
    model = Membership
    formset = KeepsAnOwner
    extra = 0
    tab = True
    fields = ("user", "role", "created_at")
    readonly_fields = ("created_at",)
    autocomplete_fields = ("user",)


class Projects(TabularInline):
    model = Project
    extra = 0
    tab = True
    fields = ("name", "is_default", "id", "created_at")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Organization)
class OrganizationAdmin(SuspensionActions):
    list_display = (
        "name",
        "show_plan",
        "show_suspended",
        "show_members",
        "show_keys",
        "created_at",
    )
    list_filter = (("plan", RelatedDropdownFilter), ("created_at", RangeDateTimeFilter))
    list_filter_submit = True
    list_select_related = ("plan",)
    search_fields = ("name", "id", "memberships__user__email")
    ordering = ("-created_at",)
    fields = ("id", "name", "plan", "suspended_at", "created_at")
    readonly_fields = ("id", "suspended_at", "created_at")
    inlines = (Members, Projects, Suspensions)
    actions_detail = ("suspend", "reinstate")

    def save_model(
        self, request: HttpRequest, obj: Organization, form: ModelForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        if "plan" in form.changed_data:
            record(
                Action.PLAN_UPDATED,
                organization_id=obj.pk,
                actor=staff(cast(User, request.user).pk),
                target=("organization", obj.pk),
                details={"plan": obj.plan_id},
            )

    def save_formset(
        self, request: HttpRequest, form: ModelForm, formset: BaseInlineFormSet, change: bool
    ) -> None:
        super().save_formset(request, form, formset, change)
        if formset.model is not Membership:
            return
        changed = [member for member, _ in formset.changed_objects]
        for action, members in (
            (Action.USER_ADDED, formset.new_objects),
            (Action.USER_UPDATED, changed),
            (Action.USER_DELETED, formset.deleted_objects),
        ):
            for member in members:
                record(
                    action,
                    organization_id=member.organization_id,
                    actor=staff(cast(User, request.user).pk),
                    target=("user", member.user_id),
                    details={"role": member.role},
                )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Organization]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                members=Count("memberships", distinct=True),
                keys=Count("api_keys", distinct=True),
            )
        )

    @display(
        description="Plan",
        ordering="plan__queue_priority",
        label={"free": "default", "standard": "info", "premium": "success"},
    )
    def show_plan(self, organization: Organization) -> tuple[str, str]:
        return organization.plan.slug, organization.plan.name

    @display(description="State", ordering="suspended_at", label={"suspended": "danger"})
    def show_suspended(self, organization: Organization) -> str:
        return "suspended" if organization.suspended_at else ""

    @display(description="Members", ordering="members")
    def show_members(self, organization: Organization) -> int:
        return organization.members  # type: ignore[attr-defined]

    @display(description="API keys", ordering="keys")
    def show_keys(self, organization: Organization) -> int:
        return organization.keys  # type: ignore[attr-defined]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # they come into being with their first owner

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # the ledger keeps naming them


@admin.register(Plan)
class PlanAdmin(ModelAdmin):
    """A changed limit holds for every caller within ten seconds."""

    list_display = (
        "name",
        "queue_priority",
        "requests_per_minute",
        "tokens_per_minute",
        "concurrent_generations",
        "seats",
        "file_bytes",
        "batch_lines",
        "open_batches",
        "attachment_bytes",
        "conversations",
        "api_keys",
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("slug",) if obj else ()

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
