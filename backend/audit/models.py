"""The table of the audit log. Append-only: triggers refuse UPDATE, DELETE and TRUNCATE.

Ids and not foreign keys, so that an entry outlives what it names; names and addresses of people are
read from their account, so that erasing that leaves no name behind here.
"""

import uuid
from typing import ClassVar

from django.db import models
from django.utils import timezone


class ActorKind(models.TextChoices):
    USER = "user"
    API_KEY = "api_key"
    STAFF = "staff", "operator's staff"
    SCIM = "scim", "identity provider"
    SYSTEM = "system"


class AuditEvent(models.Model):
    """One thing that somebody did, or tried, in an organization."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    organization_id = models.UUIDField(
        null=True, help_text="Empty: of an account that was in no organization."
    )
    action = models.CharField(max_length=64)
    actor_kind = models.CharField(max_length=16, choices=ActorKind.choices)
    actor_id = models.UUIDField(null=True, help_text="The user; of a key, who made it.")
    key_id = models.UUIDField(null=True)
    project_id = models.UUIDField(null=True)
    address = models.CharField(max_length=45, blank=True)
    user_agent = models.CharField(max_length=200, blank=True)
    target_type = models.CharField(max_length=40, blank=True)
    target_id = models.CharField(max_length=100, blank=True)
    details = models.JSONField(default=dict, help_text="What changed; never a secret or content.")
    request_id = models.CharField(max_length=128, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "-id"]
        indexes = [
            models.Index(fields=["organization_id", "-created_at", "-id"], name="audit_list"),
            models.Index(
                fields=["organization_id", "actor_id", "-created_at"], name="audit_by_actor"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} at {self.created_at}"
