"""Staff pages of the data rights: holds, erasures with their certificates, exports."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html
from unfold.admin import ModelAdmin
from unfold.decorators import action, display
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldAdminUUIDInputWidget,
)

from backend.accounts.legal_hold import legal_hold_begin, legal_hold_end
from backend.accounts.models import LegalHold, User
from backend.audit.actions import Action
from backend.audit.models import ActorKind
from backend.audit.services import Actor, record
from backend.platform.errors import ParleyError
from backend.platform.model_admins import ReadOnlyAdmin
from backend.rights.erasure import certificate_text
from backend.rights.models import DataExport, Erasure, SubjectKind
from backend.rights.requests import organization_erase, user_erase


@admin.register(LegalHold)
class LegalHoldAdmin(ModelAdmin):
    list_display = ("__str__", "reason", "began_at", "began_by", "ended_at")
    autocomplete_fields = ("organization", "user")
    fields = ("organization", "user", "reason", "began_at", "ended_at")
    readonly_fields = ("began_at", "ended_at")
    actions_detail = ("end",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_end_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        may = request.user.has_perm("accounts.change_legalhold")
        return may and LegalHold.objects.filter(pk=object_id, ended_at=None).exists()

    def save_model(
        self, request: HttpRequest, obj: LegalHold, form: ModelForm, change: bool
    ) -> None:
        hold = legal_hold_begin(
            reason=obj.reason,
            organization_id=obj.organization_id,
            user_id=obj.user_id,
            by_id=request.user.pk,
        )
        obj.pk = hold.pk
        _record_hold(Action.LEGAL_HOLD_SET, hold, request)

    @action(description="End the hold", icon="lock_open", permissions=["end"])
    def end(self, request: HttpRequest, object_id: str) -> HttpResponse:
        hold = LegalHold.objects.get(pk=object_id)
        legal_hold_end(hold=hold, by_id=request.user.pk)
        _record_hold(Action.LEGAL_HOLD_RELEASED, hold, request)
        messages.success(request, "The hold has ended; what is due is purged by the next run.")
        return redirect("admin:accounts_legalhold_change", object_id)


class ErasureForm(ModelForm):
    """Asks for an erasure; the subject is locked out when it is saved."""

    kind = forms.ChoiceField(choices=SubjectKind.choices, widget=UnfoldAdminSelectWidget)
    subject_id = forms.UUIDField(
        widget=UnfoldAdminUUIDInputWidget, help_text="The id of the user or the organization."
    )
    reason = forms.CharField(min_length=3, max_length=300, widget=UnfoldAdminTextInputWidget)

    class Meta:
        model = Erasure
        fields = ("kind", "subject_id", "reason")

    by: User

    def clean(self) -> dict[str, Any] | None:
        """Erases, because only that tells what stands against it."""
        data = super().clean()
        if data is None or self.errors:
            return data
        try:
            if data["kind"] == SubjectKind.USER:
                target = User.objects.filter(pk=data["subject_id"]).first()
                if target is not None and target.is_staff and not self.by.is_superuser:
                    raise forms.ValidationError("Staff are erased by superusers alone.")
                self.instance = user_erase(
                    user_id=data["subject_id"], reason=data["reason"], by_id=self.by.pk
                )
            else:
                self.instance = organization_erase(
                    organization_id=data["subject_id"], reason=data["reason"], by_id=self.by.pk
                )
        except ParleyError as error:
            raise forms.ValidationError(error.message) from error
        return data


@admin.register(Erasure)
class ErasureAdmin(ReadOnlyAdmin):
    list_display = ("kind", "subject_id", "state", "created_at", "finished_at", "reason")
    list_filter = ("state", "kind")
    search_fields = ("subject_id",)
    form = ErasureForm

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is None:
            return ("kind", "subject_id", "reason")
        return (*self.list_display, "attempts", "error", "show_certificate")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self.get_fields(request, obj)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("rights.add_erasure")

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        form.by = request.user
        return form

    def save_model(self, request: HttpRequest, obj: Erasure, form: ModelForm, change: bool) -> None:
        """It was saved when the form was found to be right."""

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, str]:
        return {"kind": SubjectKind.USER, **super().get_changeform_initial_data(request)}

    @display(description="Certificate")
    def show_certificate(self, erasure: Erasure) -> str:
        if erasure.certificate is None:
            return "Not yet."
        return format_html("<pre>{}</pre>", certificate_text(erasure.certificate))


@admin.register(DataExport)
class DataExportAdmin(ReadOnlyAdmin):
    """That there are exports; staff do not download them."""

    list_display = ("kind", "subject_id", "state", "size", "created_at", "expires_at")
    list_filter = ("state", "kind")
    search_fields = ("subject_id",)
    fields = (*list_display, "attempts", "error", "sha256")


def _record_hold(what: Action, hold: LegalHold, request: HttpRequest) -> None:
    """In the log of the organization; a user's hold stands in that of none."""
    record(
        what,
        organization_id=hold.organization_id,
        actor=Actor(user_id=request.user.pk, kind=ActorKind.STAFF),
        target=("legal_hold", hold.pk),
        details={"user": str(hold.user_id)} if hold.user_id else None,
    )
