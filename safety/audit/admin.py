"""The safety pages of the admin: decisions to read, policies to version; `review_admin` has the
queue."""

from typing import Any

from django.contrib import admin
from django.forms import ModelForm
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from safety.audit.forms import PolicyForm
from safety.audit.models import SafetyDecisionRecord, SafetyPolicy
from safety.audit.review_admin import ReviewAdmin
from safety.audit.selectors import policy_cache_clear
from safety.audit.services import policy_save
from safety.taxonomy import Category

__all__ = ["ReviewAdmin", "SafetyDecisionRecordAdmin", "SafetyPolicyAdmin"]


@admin.register(SafetyDecisionRecord)
class SafetyDecisionRecordAdmin(ModelAdmin):
    """Read-only: the audit is written by the gateway alone."""

    list_display = (
        "created_at",
        "organization",
        "stage",
        "action",
        "layer",
        "categories",
        "signals",
    )
    list_filter = ("stage", "action", "layer", "created_at")
    search_fields = ("=generation_id", "=text_sha256", "=user_id")
    list_select_related = ("organization",)
    date_hierarchy = "created_at"
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(SafetyPolicy)
class SafetyPolicyAdmin(ModelAdmin):
    """Versions of policies: saving the form adds the next version, which rules at once."""

    form = PolicyForm
    list_display = ("organization", "model", "version", "is_active", "comment", "created_at")
    list_filter = ("is_active",)
    list_select_related = ("organization",)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None:
            shown = ("organization", "model", "version", "is_active", "comment", "document")
            return [(None, {"fields": shown})]
        by_category = [(f"action_{c}", f"threshold_{c}") for c in Category]
        general = (
            "preset",
            "dry_run",
            "redact",
            "allow_hashes",
            "trusted_keys",
            "store_text_days",
        )
        return [
            ("For whom", {"fields": ("organization", "model", "is_active", "comment")}),
            ("What", {"fields": general}),
            ("By category", {"fields": by_category}),
        ]

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> type[ModelForm]:
        # The fields by category exist only on instances of the form, so none are named here.
        kwargs["fields"] = PolicyForm.Meta.fields
        return super().get_form(request, obj, **kwargs)

    def save_model(self, request: HttpRequest, obj: SafetyPolicy, form: Any, change: bool) -> None:
        saved = policy_save(
            organization_id=obj.organization_id,
            model=obj.model,
            document=form.cleaned_data["document"],
            created_by_id=request.user.pk,
            comment=obj.comment,
            is_active=obj.is_active,
        )
        obj.pk, obj.version, obj.document = saved.pk, saved.version, saved.document
        policy_cache_clear()

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
