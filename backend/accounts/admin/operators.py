"""What operators decide for the whole installation: sign-up, models, announcements, terms."""

from typing import Any

from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import AutocompleteSelectFilter, RelatedDropdownFilter

from backend.accounts.model_access import model_rules_clear
from backend.accounts.models import (
    Announcement,
    ModelAccess,
    SignUpPolicy,
    TermsAcceptance,
    TermsVersion,
)
from backend.accounts.terms import terms_cache_clear
from backend.platform.model_admins import ReadOnlyAdmin


@admin.register(SignUpPolicy)
class SignUpPolicyAdmin(ModelAdmin):
    """One row; without it PARLEY_SIGNUP_OPEN decides."""

    list_display = ("mode", "domains", "changed_at")
    fields = ("mode", "domains")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and not SignUpPolicy.objects.exists()


@admin.register(ModelAccess)
class ModelAccessAdmin(ModelAdmin):
    """A change holds for every caller within ten seconds. The organization's row rules, else its
    plan's, else everyone's; a model without any is open to all.

    A region is written as `@eu`, and `@*` is every region without a row of its own: an organization
    with `@*` not allowed and `@eu` allowed is answered in `eu` only."""

    list_display = ("model", "organization", "plan", "is_allowed")
    list_filter = (
        "is_allowed",
        ("plan", RelatedDropdownFilter),
        ("organization", AutocompleteSelectFilter),
    )
    list_filter_submit = True
    list_select_related = ("organization", "plan")
    search_fields = ("model",)
    autocomplete_fields = ("organization",)

    def save_model(
        self, request: HttpRequest, obj: ModelAccess, form: ModelForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        model_rules_clear()

    def delete_model(self, request: HttpRequest, obj: ModelAccess) -> None:
        super().delete_model(request, obj)
        model_rules_clear()


@admin.register(Announcement)
class AnnouncementAdmin(ModelAdmin):
    list_display = ("title", "tone", "starts_at", "ends_at", "is_dismissible")
    list_filter = ("tone", "plans")
    search_fields = ("title",)
    filter_horizontal = ("plans",)


@admin.register(TermsVersion)
class TermsVersionAdmin(ModelAdmin):
    """Published versions stay as they are: users have accepted exactly these."""

    list_display = ("kind", "version", "effective_at", "link")
    list_filter = ("kind",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        published = obj is not None and obj.effective_at <= timezone.now()
        return super().has_change_permission(request, obj) and not published

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return (
            obj is not None
            and obj.effective_at > timezone.now()
            and super().has_delete_permission(request, obj)
        )

    def save_model(
        self, request: HttpRequest, obj: TermsVersion, form: ModelForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        terms_cache_clear()


@admin.register(TermsAcceptance)
class TermsAcceptanceAdmin(ReadOnlyAdmin):
    list_display = ("version", "user", "accepted_at", "address")
    list_filter = (("version", RelatedDropdownFilter),)
    list_filter_submit = True
    list_select_related = ("version", "user")
    search_fields = ("user__email",)
