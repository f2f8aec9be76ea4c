"""The tables behind `Idempotency-Key` (idempotency.py) and `/v1/responses` (responses/)."""

import uuid

from django.db import models
from django.utils import timezone

from backend.accounts.models import Organization, User


class IdempotencyRecord(models.Model):
    """One key of one user in one organization: its generation, and the answer once complete.

    `generation_id` is chosen before anything runs; a generation's id is unique, so whatever
    happens to the processes, one record never causes two generations.
    """

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(
        User,
        null=True,  # rows of the release before, whose generation is gone
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Conversations are private from colleagues, and so are answers.",
    )
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of method, path and body.")
    generation_id = models.UUIDField(unique=True, default=uuid.uuid4)
    holder = models.CharField(
        max_length=32,
        db_default="",
        help_text="Token of the lock that claimed it last; nobody else may delete it.",
    )
    content_type = models.CharField(max_length=100, blank=True)
    body = models.BinaryField(null=True, help_text="The whole answer, zlib-compressed.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "user", "key"], name="idempotency_user_key_unique"
            )
        ]

    def __str__(self) -> str:
        return f"Idempotency record {self.pk}"


class StoredResponse(models.Model):
    """What was asked with POST /v1/responses, by its generation's id. responses/rows.py is its
    only writer."""

    id = models.UUIDField(primary_key=True)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    previous = models.UUIDField(null=True, help_text="The response that it follows.")
    # Text and no jsonb, which has no NUL.
    items = models.TextField(help_text="Its input items, as JSON.")
    asked = models.TextField(help_text="Its parameters, as its object shows them, as JSON.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return f"Response {self.pk}"
