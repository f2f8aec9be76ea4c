"""Abuse detection: hourly counts by subject, what was flagged, and what is done about it.

A subject is an API key or an organization. None of this holds content.
"""

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class SubjectKind(models.TextChoices):
    KEY = "key"
    ORGANIZATION = "organization"


class AbuseReason(models.TextChoices):
    SPIKE = "spike", "spike against its own history"
    BLOCKED = "blocked", "many blocked prompts"
    SHARED_ADDRESS = "shared_address", "many keys from one address"


class AbuseSeen(models.Model):
    """Events counted already: what makes counting once of delivering at least once."""

    event_id = models.UUIDField(primary_key=True)
    hour = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return str(self.event_id)


class AbuseHour(models.Model):
    """What a subject did in an hour."""

    kind = models.CharField(max_length=12, choices=SubjectKind.choices)
    subject_id = models.UUIDField()
    hour = models.DateTimeField()
    requests = models.PositiveBigIntegerField()
    blocked = models.PositiveBigIntegerField()
    tokens = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "subject_id", "hour"], name="abuse_hour_unique")
        ]
        indexes = [models.Index(fields=["hour"], name="abuse_hour_age")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject_id} {self.hour:%Y-%m-%d %H}h"


class AbuseClient(models.Model):
    """That a key was used from an address, known by its keyed hash only."""

    client_hash = models.CharField(max_length=64)
    key_id = models.UUIDField()
    last_seen = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client_hash", "key_id"], name="abuse_client_unique")
        ]

    def __str__(self) -> str:
        return f"{self.client_hash[:8]} {self.key_id}"


class AbuseFlag(models.Model):
    """A subject that looks like abuse for one reason; at most one open flag for each."""

    class State(models.TextChoices):
        OPEN = "open"
        CONFIRMED = "confirmed"
        DISMISSED = "dismissed"

    kind = models.CharField(max_length=12, choices=SubjectKind.choices)
    subject_id = models.UUIDField()
    organization_id = models.UUIDField(db_index=True)
    reason = models.CharField(max_length=16, choices=AbuseReason.choices)
    score = models.FloatField(help_text="1 is the threshold.")
    details = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    first_seen = models.DateTimeField(db_default=Now(), editable=False)
    last_seen = models.DateTimeField()
    throttled_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-last_seen"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject_id", "reason"],
                condition=Q(state="open"),
                name="abuse_one_open_flag",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_reason_display()}: {self.kind} {self.subject_id}"


class AbusePolicy(models.Model):
    """What happens when a reason is flagged. Without a row it is only flagged."""

    reason = models.CharField(max_length=16, choices=AbuseReason.choices, unique=True)
    throttle = models.BooleanField(
        default=False, help_text="Slow the subject down as soon as it is flagged."
    )
    requests_per_minute = models.PositiveIntegerField(
        default=5, validators=[MinValueValidator(1)], help_text="While throttled."
    )
    minutes = models.PositiveIntegerField(
        default=60, validators=[MinValueValidator(1)], help_text="How long it stays throttled."
    )

    class Meta:
        verbose_name_plural = "abuse policies"

    def __str__(self) -> str:
        return self.get_reason_display()
