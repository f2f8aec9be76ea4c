"""The table of assistants: what somebody has set up once for many chats."""

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from backend.accounts.models import Organization


class Assistant(models.Model):
    """Instructions, a model and its parameters under a name, of one person in one organization.

    Attributes:
        seen_by, edited_by: roles of the organization. Without any it is its author's alone; a role
            that edits also sees.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="assistants"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="assistants"
    )
    name = models.CharField(max_length=100)
    description = models.CharField(max_length=500, blank=True)
    instructions = models.TextField(
        blank=True, help_text="What the model reads before the messages of each of its chats."
    )
    model = models.CharField(
        max_length=100, blank=True, help_text="That its chats begin with. Empty: the person's."
    )
    parameters = models.JSONField(default=dict, help_text="What its chats begin with.")
    starters = models.JSONField(default=list, help_text="Prompts that an empty chat offers.")
    seen_by = models.JSONField(default=list, help_text="Roles that see and use it.")
    edited_by = models.JSONField(default=list, help_text="Roles that change it, too.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at", "-id"], name="assistant_list")
        ]

    def __str__(self) -> str:
        return f"Assistant {self.id}"  # never the name: it is content
