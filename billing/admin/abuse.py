"""Flags of the abuse detector: judged here, and the policies that act on them."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import display

from backend.platform.model_admins import ReadOnlyAdmin
from billing.abuse import throttle
from billing.models import AbuseFlag, AbusePolicy


@admin.register(AbuseFlag)
class AbuseFlagAdmin(ReadOnlyAdmin):
    list_display = (
        "last_seen",
        "show_reason",
        "kind",
        "subject_id",
        "organization_id",
        "show_score",
        "show_state",
        "throttled_until",
    )
    list_filter = (
        ("state", ChoicesDropdownFilter),
        ("reason", ChoicesDropdownFilter),
        ("kind", ChoicesDropdownFilter),
    )
    list_filter_submit = True
    actions = ("confirm", "dismiss")
    ordering = ("-last_seen",)

    @display(description="Reason", ordering="reason")
    def show_reason(self, flag: AbuseFlag) -> str:
        return flag.get_reason_display()

    @display(description="Score", ordering="score")
    def show_score(self, flag: AbuseFlag) -> str:
        return f"{flag.score:.1f}"

    @display(
        description="State",
        ordering="state",
        label={"open": "warning", "confirmed": "danger", "dismissed": "default"},
    )
    def show_state(self, flag: AbuseFlag) -> str:
        return flag.state

    @admin.action(description="It is abuse", permissions=["judge"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[AbuseFlag]) -> None:
        count = queryset.filter(state="open").update(state="confirmed")
        messages.success(request, f"{count} confirmed.")

    @admin.action(description="It is none: dismiss, and lift the throttle", permissions=["judge"])
    def dismiss(self, request: HttpRequest, queryset: QuerySet[AbuseFlag]) -> None:
        flags = list(queryset.filter(state="open"))
        for flag in flags:
            throttle.stop(subject_id=flag.subject_id)
            flag.state, flag.throttled_until = AbuseFlag.State.DISMISSED, None
            flag.save(update_fields=["state", "throttled_until"])
        messages.success(request, f"{len(flags)} dismissed.")

    def has_judge_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("billing.change_abuseflag")


@admin.register(AbusePolicy)
class AbusePolicyAdmin(ModelAdmin):
    list_display = ("reason", "throttle", "requests_per_minute", "minutes")
