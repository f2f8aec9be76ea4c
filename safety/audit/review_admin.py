"""The review queue of the admin: a person confirms or overturns what the classifiers decided."""

from collections.abc import Iterable
from typing import Any, cast

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from unfold.admin import ModelAdmin
from unfold.decorators import action

from backend.accounts.models import User
from backend.platform.errors import Conflict
from safety.audit.models import Review, ReviewState, StoredText
from safety.audit.services import retained_text_access_record, review_resolve
from safety.audit.texts import TextUnreadable

MAY_READ = "conversations.view_content"
"""The permission that lets staff see what users wrote; see decision 0085."""


@admin.register(Review)
class ReviewAdmin(ModelAdmin):
    """Reviews, oldest first, to be resolved one by one (with a note to the user) or together."""

    list_display = ("created_at", "state", "reason", "stage", "categories", "appeal", "resolved_at")
    list_filter = ("state", "reason", "decision__stage")
    list_select_related = ("decision",)
    search_fields = ("=decision__generation_id",)
    show_full_result_count = False
    readonly_fields = (
        "decision",
        "categories",
        "reason",
        "state",
        "appeal",
        "retained_text",
        "created_at",
        "resolved_at",
    )
    fields = (
        "decision",
        "categories",
        "reason",
        "appeal",
        "retained_text",
        "state",
        "note",
        "created_at",
        "resolved_at",
    )
    actions = ("confirm_selected", "overturn_selected")
    actions_submit_line = ("confirm", "overturn")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        resolved = obj is not None and obj.state != ReviewState.OPEN
        return (*self.readonly_fields, "note") if resolved else self.readonly_fields

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """Without the retained text for staff who may not read what users wrote."""
        may_read = request.user.has_perm(MAY_READ)
        return [name for name in self.fields if may_read or name != "retained_text"]

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """As usual; that a retained text was opened, and by whom, is logged, here
        and in the organization's audit log."""
        if request.method == "GET" and object_id is not None and request.user.has_perm(MAY_READ):
            review = self.get_object(request, object_id)
            if review is not None and _stored_text(review) is not None:
                self.log_change(request, review, "Read the retained text.")
                retained_text_access_record(review=review, reader_id=cast(User, request.user).pk)
        return super().changeform_view(request, object_id, form_url, extra_context)

    @admin.display(description="categories")
    def categories(self, review: Review) -> str:
        return ", ".join(review.decision.categories)

    @admin.display(description="stage")
    def stage(self, review: Review) -> str:
        return review.decision.stage

    @admin.display(description="checked text")
    def retained_text(self, review: Review) -> str:
        stored = _stored_text(review)
        if stored is None:
            return "Not retained: the organization's policy retains hashes only."
        try:
            return stored.text
        except TextUnreadable as error:
            return str(error)

    @action(description="Confirm: it was right")
    def confirm(self, request: HttpRequest, obj: Review) -> None:
        self._resolve(request, [obj], ReviewState.CONFIRMED)

    @action(description="Overturn: it should have been allowed")
    def overturn(self, request: HttpRequest, obj: Review) -> None:
        self._resolve(request, [obj], ReviewState.OVERTURNED)

    @admin.action(description="Confirm: the decision was right")
    def confirm_selected(self, request: HttpRequest, queryset: QuerySet[Review]) -> None:
        self._resolve(request, queryset, ReviewState.CONFIRMED)

    @admin.action(description="Overturn: it should have been allowed")
    def overturn_selected(self, request: HttpRequest, queryset: QuerySet[Review]) -> None:
        self._resolve(request, queryset, ReviewState.OVERTURNED)

    def save_model(self, request: HttpRequest, obj: Review, form: ModelForm, change: bool) -> None:
        """The note alone is saved; state and time are the services' to set."""
        if form.changed_data:
            Review.objects.filter(pk=obj.pk, state=ReviewState.OPEN).update(note=obj.note)
        for submitted in self.get_actions_submit_line(request, obj.pk):
            if submitted.action_name in request.POST:
                submitted.method(request, obj)

    def _resolve(self, request: HttpRequest, reviews: Iterable[Review], state: ReviewState) -> None:
        for review in reviews:
            try:
                review_resolve(review_id=review.id, state=state, reviewer_id=request.user.pk)
            except Conflict as error:
                messages.warning(request, error.message)
            else:
                self.log_change(request, review, f"Resolved: {state}.")


def _stored_text(review: Review) -> StoredText | None:
    return StoredText.objects.select_related("decision").filter(pk=review.decision_id).first()
