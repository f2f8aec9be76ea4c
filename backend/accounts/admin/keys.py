"""API keys: whose they are and whether they work; never the secret, nor its hash."""

from typing import Any, cast
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    BooleanRadioFilter,
    RangeDateTimeFilter,
)
from unfold.decorators import action, display
from unfold.enums import ActionVariant

from backend.accounts.models import APIKey, User
from backend.accounts.services import api_key_end
from backend.audit.services import staff
from backend.platform.model_admins import ReadOnlyAdmin

MAY_REVOKE = "accounts.change_apikey"


@admin.register(APIKey)
class APIKeyAdmin(ReadOnlyAdmin):
    list_display = (
        "name",
        "prefix",
        "show_state",
        "organization",
        "created_by",
        "last_used_at",
        "created_at",
    )
    list_filter = (
        ("organization", AutocompleteSelectFilter),
        ("is_internal", BooleanRadioFilter),
        ("last_used_at", RangeDateTimeFilter),
    )
    list_filter_submit = True
    list_select_related = ("organization", "created_by")
    search_fields = ("name", "prefix", "id", "created_by__email")
    exclude = ("sha256",)
    actions = ("revoke_selected",)
    actions_detail = ("revoke",)

    @display(
        description="State",
        label={"works": "success", "expired": "warning", "revoked": "danger"},
    )
    def show_state(self, key: APIKey) -> str:
        if key.revoked_at is not None:
            return "revoked"
        if key.expires_at is not None and key.expires_at <= timezone.now():
            return "expired"
        return "works"

    def has_revoke_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm(MAY_REVOKE)

    @admin.action(description="Revoke selected keys", permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, keys: QuerySet[APIKey]) -> None:
        chosen = list(keys.filter(revoked_at=None))
        for key in chosen:
            api_key_end(key=key, actor=staff(_staff_id(request)))
            self.log_change(request, key, "Revoked.")
        messages.success(request, f"Revoked: {len(chosen)}. They are refused from now on.")

    @action(
        description="Revoke",
        icon="key_off",
        permissions=["revoke"],
        variant=ActionVariant.DANGER,
        dialog={
            "title": "Revoke this key?",
            "description": "Every process refuses it at once. This cannot be undone.",
            "form_class": None,
            "form_submit_text": "Revoke",
        },
    )
    def revoke(self, request: HttpRequest, form: Any, object_id: str) -> HttpResponse:
        key = APIKey.objects.get(pk=object_id)
        api_key_end(key=key, actor=staff(_staff_id(request)))
        self.log_change(request, key, "Revoked.")
        messages.success(request, f"{key} is revoked.")
        back = reverse("admin:accounts_apikey_change", args=[object_id])
        if request.headers.get("HX-Request"):
            return HttpResponse(headers={"HX-Redirect": back})
        return redirect(back)


def _staff_id(request: HttpRequest) -> UUID:
    """The admin lets nobody else in."""
    return cast(User, request.user).pk
