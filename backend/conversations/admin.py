"""Staff pages of `conversations`. They show that something was said, not what.

The title is content too, and so are a file's name and a comment. Who holds
`conversations.view_content` may open the content of one conversation, after giving a reason;
each opening is an entry of ContentAccess, made before anything is shown.
"""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.urls.resolvers import URLPattern
from django.utils.html import format_html
from django.views.decorators.cache import never_cache
from unfold.contrib.filters.admin import (
    AutocompleteSelectFilter,
    ChoicesDropdownFilter,
    RangeDateTimeFilter,
)
from unfold.decorators import display
from unfold.widgets import UnfoldAdminTextareaWidget

from backend.accounts.models import User
from backend.conversations.audit import VIEW_CONTENT, content_access_record
from backend.conversations.models import ContentAccess, Conversation, Feedback, Message
from backend.platform.errors import InvalidRequest
from backend.platform.model_admins import LargeReadOnlyAdmin

_SHOWN_MESSAGES = 500


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label="Why do you need to read this?",
        help_text="For example the number of the ticket. It is stored with your name.",
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
    )


@admin.register(Conversation)
class ConversationAdmin(LargeReadOnlyAdmin):
    list_display = (
        "id",
        "organization",
        "user",
        "model",
        "show_messages",
        "updated_at",
        "deleted_at",
    )
    list_filter = (
        ("organization", AutocompleteSelectFilter),
        ("user", AutocompleteSelectFilter),
        ("updated_at", RangeDateTimeFilter),
    )
    list_filter_submit = True
    list_select_related = ("organization", "user")
    search_email = "user__email"
    ordering = ("-updated_at",)
    fields = (
        "id",
        "organization",
        "user",
        "model",
        "show_content",
        "created_at",
        "updated_at",
        "pinned_at",
        "archived_at",
        "deleted_at",
    )
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        of_this = Message.objects.filter(conversation=OuterRef("pk")).order_by()
        counted = of_this.values("conversation").annotate(n=Count("pk")).values("n")
        # A subquery is evaluated for the page's rows alone; a join would count all of them.
        return super().get_queryset(request).annotate(message_count=Subquery(counted))

    @display(description="Messages")
    def show_messages(self, conversation: Conversation) -> int:
        return conversation.message_count or 0  # type: ignore[attr-defined]

    @display(description="Content")
    def show_content(self, conversation: Conversation) -> str:
        return format_html(
            '<a class="text-primary-600 underline dark:text-primary-500" href="{}">'
            "Read it, with a reason that is written down</a>",
            reverse("admin:conversations_conversation_content", args=[conversation.pk]),
        )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        may_read = request.user.has_perm(VIEW_CONTENT)
        return [name for name in self.fields if may_read or name != "show_content"]

    def get_urls(self) -> list[URLPattern]:
        content = path(
            "<uuid:conversation_id>/content/",
            self.admin_site.admin_view(never_cache(self.content_view)),
            name="conversations_conversation_content",
        )
        return [content, *super().get_urls()]

    def content_view(self, request: HttpRequest, conversation_id: UUID) -> HttpResponse:
        """Ask for a reason (GET); store it and show the content (POST), once."""
        if not request.user.has_perm(VIEW_CONTENT) or not isinstance(request.user, User):
            raise PermissionDenied
        conversation = get_object_or_404(
            Conversation.objects.select_related("organization", "user"), pk=conversation_id
        )
        form = ReasonForm(request.POST or None)
        shown: list[Message] = []
        total = 0
        if form.is_valid():
            try:
                content_access_record(
                    actor=request.user,
                    conversation=conversation,
                    reason=form.cleaned_data["reason"],
                )
            except InvalidRequest as error:
                form.add_error("reason", error.message)
            else:
                messages = conversation.messages.order_by("-created_at", "-id")
                shown = list(reversed(messages[:_SHOWN_MESSAGES]))
                total = messages.count()
        return TemplateResponse(
            request,
            "admin/conversations/content.html",
            {
                **self.admin_site.each_context(request),
                "title": "Content of a conversation",
                "original": conversation,
                "opts": self.model._meta,
                "conversation": conversation,
                "form": form,
                "is_shown": form.is_bound and form.is_valid(),
                "shown_messages": shown,
                "left_out": total - len(shown),
            },
        )


@admin.register(Message)
class MessageAdmin(LargeReadOnlyAdmin):
    """Without content: that is opened conversation by conversation."""

    list_display = (
        "id",
        "role",
        "show_status",
        "model",
        "input_tokens",
        "output_tokens",
        "created_at",
    )
    list_filter = (
        ("role", ChoicesDropdownFilter),
        ("status", ChoicesDropdownFilter),
        ("created_at", RangeDateTimeFilter),
    )
    list_filter_submit = True
    search_ids = ("pk", "conversation_id")
    ordering = ("-created_at",)
    fields = (
        "id",
        "conversation",
        "parent",
        "role",
        "status",
        "finish_reason",
        "model",
        "generation_id",
        "input_tokens",
        "output_tokens",
        "created_at",
    )
    readonly_fields = fields

    @display(
        description="Status",
        ordering="status",
        label={
            "pending": "info",
            "completed": "success",
            "cancelled": "default",
            "blocked": "warning",
            "failed": "danger",
        },
    )
    def show_status(self, message: Message) -> str:
        return message.status


@admin.register(Feedback)
class FeedbackAdmin(LargeReadOnlyAdmin):
    """The thumb; the comment is content."""

    list_display = ("show_rating", "message", "user", "updated_at")
    list_filter = (("rating", ChoicesDropdownFilter), ("updated_at", RangeDateTimeFilter))
    list_filter_submit = True
    list_select_related = ("message", "user")
    search_ids = ("message_id",)
    search_email = "user__email"
    ordering = ("-updated_at",)
    fields = ("message", "user", "rating", "created_at", "updated_at")
    readonly_fields = fields

    @display(description="Rating", label={"good": "success", "bad": "danger"})
    def show_rating(self, feedback: Feedback) -> str:
        return feedback.get_rating_display()


@admin.register(ContentAccess)
class ContentAccessAdmin(LargeReadOnlyAdmin):
    """Append-only, also in a database shell: a trigger refuses the rest."""

    list_display = ("accessed_at", "actor", "conversation_id", "reason")
    list_filter = (
        ("actor", AutocompleteSelectFilter),
        ("accessed_at", RangeDateTimeFilter),
    )
    list_filter_submit = True
    list_select_related = ("actor",)
    search_ids = ("conversation_id",)
    search_email = "actor__email"
