"""Tables of memory: what the product remembers of a person, and who has switched that off.

An entry is one person's, in one organization; with a project it is of that project's chats alone.
"""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from backend.accounts.models import Organization, Project


class Memory(models.Model):
    """One thing that the person said, and wants to be known in later chats."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="memories"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memories"
    )
    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        null=True,
        related_name="memories",
        help_text="Whose chats read it. Empty: those of the default project.",
    )
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    used_at = models.DateTimeField(
        null=True, help_text="When a prompt last had words of it, to about an hour."
    )

    class Meta:
        verbose_name_plural = "memories"
        ordering: ClassVar[list[str]] = ["created_at", "id"]
        indexes = [
            models.Index(fields=["organization", "user", "created_at"], name="memory_of_a_person")
        ]

    def __str__(self) -> str:
        return f"Memory {self.id}"  # never the text: it is content


class MemorySettings(models.Model):
    """Whether a person wants memory in an organization; without a row they do."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    is_on = models.BooleanField(default=True)

    class Meta:
        verbose_name_plural = "memory settings"
        constraints = [
            models.UniqueConstraint(fields=["organization", "user"], name="memory_settings_unique")
        ]

    def __str__(self) -> str:
        return f"Memory settings {self.pk}"


class MemoryPolicy(models.Model):
    """Whether an organization's members may have memory; without a row they may."""

    organization = models.OneToOneField(
        Organization, on_delete=models.CASCADE, primary_key=True, related_name="memory_policy"
    )
    is_allowed = models.BooleanField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "memory policies"

    def __str__(self) -> str:
        return f"{self.organization}: {'memory' if self.is_allowed else 'no memory'}"
