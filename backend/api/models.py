"""The table behind `Idempotency-Key`. idempotency.py holds the protocol."""

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
