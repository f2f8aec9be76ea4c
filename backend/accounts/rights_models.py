"""Tables of what may be kept of an organization's and a user's data, and for how long.

Invariants, held by constraints:
- an organization has at most one data policy; without a row it has the defaults;
- a legal hold is on an organization or on a user, and on one of them at most one is open.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class AnswerCache(models.TextChoices):
    """Requests that a stored answer answers: none, or identical ones."""

    OFF = "off"
    EXACT = "exact"


class DataPolicy(models.Model):
    """What an organization's owners decide about their data."""

    organization = models.OneToOneField(
        "accounts.Organization",
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="data_policy",
    )
    retention_days = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Chats and stored answers go so many days after the last turn. 0: nothing is"
        " stored after an answer is delivered. Empty: until they are deleted.",
    )
    stores_api_calls = models.BooleanField(
        default=True, help_text="No: API calls are as with store=false."
    )
    logs_requests = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Requests of API keys are kept, encrypted, for their owners to search.",
    )
    request_log_days = models.PositiveIntegerField(
        default=30, db_default=30, help_text="Days that logged requests are kept."
    )
    allows_training = models.BooleanField(
        default=True, help_text="Whether feedback and reviews may train classifiers and models."
    )
    shares_running = models.BooleanField(
        default=True,
        db_default=True,
        help_text="Identical requests that arrive while one is answered get its answer.",
    )
    answer_cache = models.CharField(
        max_length=8,
        choices=AnswerCache,
        default=AnswerCache.OFF,
        db_default=AnswerCache.OFF,
        help_text="Which later requests are answered by an answer that was stored.",
    )
    answer_cache_s = models.PositiveIntegerField(
        default=3600, db_default=3600, help_text="Seconds that an answer is stored for that."
    )
    reuses_sampled = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Also answers that are sampled: at a temperature, and without a seed.",
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "data policies"

    def __str__(self) -> str:
        return f"Data policy of {self.organization_id}"


class TrainingOptOut(models.Model):
    """A user whose texts train nothing, whatever their organizations allow."""

    user = models.OneToOneField(
        "accounts.User", primary_key=True, on_delete=models.CASCADE, related_name="training_opt_out"
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    def __str__(self) -> str:
        return f"Training opt-out of {self.user_id}"


class LegalHold(models.Model):
    """While it is open nothing of its organization or user is purged or erased."""

    organization = models.ForeignKey(
        "accounts.Organization",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="legal_holds",
    )
    user = models.ForeignKey(
        "accounts.User",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="legal_holds",
    )
    reason = models.CharField(max_length=500, help_text="Whose request, by which reference.")
    began_at = models.DateTimeField(db_default=Now(), editable=False)
    began_by = models.ForeignKey(
        "accounts.User", null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    ended_at = models.DateTimeField(null=True, editable=False)
    ended_by = models.ForeignKey(
        "accounts.User", null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["-began_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(organization=None, user__isnull=False)
                | Q(organization__isnull=False, user=None),
                name="legal_hold_one_subject",
            ),
            models.UniqueConstraint(
                fields=["organization", "user"],
                condition=Q(ended_at=None),
                nulls_distinct=False,
                name="legal_hold_one_open",
            ),
        ]

    def __str__(self) -> str:
        return f"Legal hold on {self.organization or self.user}"
