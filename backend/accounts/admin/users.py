"""Users and staff groups.

Only a superuser decides who is staff, sets somebody's password or changes an address: either
would let the support staff become another person, and read as them what they may not read.
"""

from typing import Any, cast

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from unfold.admin import ModelAdmin, TabularInline
from unfold.contrib.filters.admin import BooleanRadioFilter, RangeDateTimeFilter
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from backend.accounts.account_events import account_event_record
from backend.accounts.models import Membership, User
from backend.accounts.services import organization_create, user_active_set
from backend.audit.actions import Action
from backend.audit.services import staff

admin.site.unregister(Group)
# allauth's own pages show seeds and session keys, and change what links in mails have verified.
for model in (Authenticator, EmailAddress, UserSession):
    admin.site.unregister(model)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    pass


class MembershipsOfUser(TabularInline):
    model = Membership
    extra = 0
    tab = True
    fields = ("organization", "role", "created_at")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    inlines = (MembershipsOfUser,)

    list_display = ("email", "name", "show_active", "show_staff", "date_joined", "last_login")
    list_filter = (
        ("is_active", BooleanRadioFilter),
        ("is_staff", BooleanRadioFilter),
        ("date_joined", RangeDateTimeFilter),
    )
    list_filter_submit = True
    search_fields = ("email", "name", "id")
    ordering = ("-date_joined",)
    fieldsets = (
        (None, {"fields": ("email", "name", "password", "is_active")}),
        (
            "Staff",
            {
                "fields": ("is_staff", "is_superuser", "groups", "user_permissions"),
                "classes": ("tab",),
            },
        ),
        ("Dates", {"fields": ("date_joined", "last_login"), "classes": ("tab",)}),
    )
    add_fieldsets = ((None, {"fields": ("email", "name", "password1", "password2")}),)
    filter_horizontal = ("groups", "user_permissions")
    readonly_fields = ("date_joined", "last_login")
    actions_detail = ("erase",)

    def has_erase_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        return request.user.has_perm("rights.add_erasure")

    @action(description="Erase", icon="delete_forever", permissions=["erase"])
    def erase(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """To the form that asks for the reason (backend/rights/admin.py)."""
        return redirect(f"{reverse('admin:rights_erasure_add')}?kind=user&subject_id={object_id}")

    @display(description="Active", boolean=True, ordering="is_active")
    def show_active(self, user: User) -> bool:
        return user.is_active

    @display(description="Staff", boolean=True, ordering="is_staff")
    def show_staff(self, user: User) -> bool:
        return user.is_staff

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if _is_superuser(request):
            return self.readonly_fields
        return (
            *self.readonly_fields,
            "email",
            "is_staff",
            "is_superuser",
            "groups",
            "user_permissions",
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The password field leads to a form that only superusers may use."""
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or _is_superuser(request):
            return fieldsets
        return ((None, {"fields": ("email", "name", "is_active")}), *fieldsets[1:])

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Staff accounts are changed by superusers alone."""
        if obj is not None and (obj.is_staff or obj.is_superuser) and not _is_superuser(request):
            return False
        return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # an erasure does it (the action below): invoices and audits name ids

    def user_change_password(
        self, request: HttpRequest, id: str, form_url: str = ""
    ) -> HttpResponse:
        if not _is_superuser(request):
            raise PermissionDenied
        return super().user_change_password(request, id, form_url)

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm, change: bool) -> None:
        if not change:
            obj.email = obj.email.lower()
            super().save_model(request, obj, form, change)
            organization_create(owner=obj, name=f"{obj.get_short_name()}'s organization")
            return
        super().save_model(request, obj, form, change)
        if "is_active" in form.changed_data:
            user_active_set(user=obj, is_active=obj.is_active)
            account_event_record(
                Action.USER_REINSTATED if obj.is_active else Action.USER_SUSPENDED,
                user_id=obj.pk,
                actor=staff(cast(User, request.user).pk),
            )


def _is_superuser(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))
