"""Suspending an organization from its page, and what was suspended when."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action
from unfold.enums import ActionVariant
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminTextInputWidget

from backend.accounts.models import Organization, Suspension
from backend.accounts.suspension import reinstate_organization, suspend_organization
from backend.platform.errors import ParleyError

MAY_SUSPEND = "accounts.change_organization"


class ReasonForm(BaseDialogForm):
    reason = forms.CharField(
        min_length=3,
        max_length=300,
        widget=UnfoldAdminTextInputWidget,
        help_text="The customer reads it.",
    )


class Suspensions(TabularInline):
    model = Suspension
    fk_name = "organization"
    extra = 0
    tab = True
    fields = ("cause", "reason", "began_at", "began_by", "ended_at", "ended_by", "end_reason")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class SuspensionActions(ModelAdmin):
    """The two buttons of an organization's page, each offered while it makes sense."""

    def has_suspend_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm(MAY_SUSPEND) and not _open(object_id, "operator")

    def has_reinstate_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm(MAY_SUSPEND) and _open(object_id)

    @action(
        description="Suspend",
        icon="block",
        permissions=["suspend"],
        variant=ActionVariant.DANGER,
        dialog={
            "title": "Suspend this organization?",
            "description": "Its keys and sessions are refused at once, what runs is stopped.",
            "form_class": ReasonForm,
            "form_submit_text": "Suspend",
        },
    )
    def suspend(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        reason = form.cleaned_data["reason"]
        try:
            suspend_organization(
                organization_id=UUID(object_id), reason=reason, by_id=request.user.pk
            )
        except ParleyError as error:
            messages.error(request, error.message)
        else:
            self.log_change(request, _organization(object_id), f"Suspended: {reason}")
            messages.success(request, "Suspended.")
        return _back(request, object_id)

    @action(
        description="Reinstate",
        icon="lock_open",
        permissions=["reinstate"],
        dialog={
            "title": "Reinstate this organization?",
            "description": "Every open suspension of it ends, that for want of payment too.",
            "form_class": ReasonForm,
            "form_submit_text": "Reinstate",
        },
    )
    def reinstate(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        reason = form.cleaned_data["reason"]
        causes = Suspension.objects.filter(organization_id=object_id, ended_at=None)
        for cause in list(causes.values_list("cause", flat=True)):
            reinstate_organization(
                organization_id=UUID(object_id),
                cause=cause,
                reason=reason,
                by_id=request.user.pk,
            )
        self.log_change(request, _organization(object_id), f"Reinstated: {reason}")
        messages.success(request, "Reinstated.")
        return _back(request, object_id)


def _open(object_id: Any, cause: str | None = None) -> bool:
    found = Suspension.objects.filter(organization_id=object_id, ended_at=None)
    return (found.filter(cause=cause) if cause else found).exists()


def _organization(object_id: str) -> Organization:
    return Organization.objects.get(pk=object_id)


def _back(request: HttpRequest, object_id: str) -> HttpResponse:
    back = reverse("admin:accounts_organization_change", args=[object_id])
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": back})
    return redirect(back)
