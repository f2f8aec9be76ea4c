"""Mails: what waits, what was given up and why. Their texts are not shown."""

from django.contrib import admin

from backend.accounts.models import Mail
from backend.platform.model_admins import ReadOnlyAdmin


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    list_display = ("created_at", "to", "kind", "state", "attempts", "due_at", "last_error")
    list_filter = ("state", "kind")
    search_fields = ("to",)
    fields = (*list_display, "subject", "sent_at")
