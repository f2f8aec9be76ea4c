"""The safety pages of the admin: decisions to read, policies to version."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.admin import ModelAdmin

from safety.audit.models import SafetyDecisionRecord, SafetyPolicy


@admin.register(SafetyDecisionRecord)
class SafetyDecisionRecordAdmin(ModelAdmin):
    """Read-only: the audit is written by the gateway alone."""

    list_display = ("created_at", "organization", "stage", "action", "layer", "categories")
    list_filter = ("stage", "action", "layer", "created_at")
    search_fields = ("generation_id", "text_sha256", "user_id")
    list_select_related = ("organization",)
    date_hierarchy = "created_at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(SafetyPolicy)
class SafetyPolicyAdmin(ModelAdmin):
    """Versions of policies; a new row rules as soon as it is saved."""

    list_display = ("organization", "model", "version", "is_active", "comment", "created_at")
    list_filter = ("is_active",)
    list_select_related = ("organization",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
