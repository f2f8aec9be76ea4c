"""Webhooks: which URLs an organization is notified at, and every delivery."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from backend.accounts.models import Organization
from billing.webhook_secrets import secret_decrypt, secret_encrypt, secret_generate


class WebhookType(models.TextChoices):
    BUDGET_THRESHOLD = "budget.threshold_reached"
    INVOICE_ISSUED = "invoice.issued"
    INVOICE_PAID = "invoice.paid"
    INVOICE_VOIDED = "invoice.voided"
    CREDIT_NOTE_ISSUED = "credit_note.issued"
    BATCH_COMPLETED = "batch.completed"
    BATCH_FAILED = "batch.failed"
    BATCH_EXPIRED = "batch.expired"
    BATCH_CANCELLED = "batch.cancelled"


class WebhookEndpoint(models.Model):
    """A URL that gets signed POSTs, until it has failed for too long (webhooks/endpoints.py)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="webhook_endpoints"
    )
    url = models.URLField(max_length=500)
    encrypted_secret = models.CharField(max_length=300, editable=False, db_column="secret")
    types = ArrayField(models.CharField(max_length=40, choices=WebhookType.choices))
    enabled = models.BooleanField(default=True)
    failures = models.PositiveIntegerField(db_default=0, default=0, help_text="In a row.")
    failing_since = models.DateTimeField(null=True, blank=True)
    disabled_at = models.DateTimeField(
        null=True, blank=True, help_text="After repeated failure; no longer called."
    )
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        ordering = ["created_at"]

    def __str__(self) -> str:
        return self.url

    @property
    def secret(self) -> str:
        """What signs. Raises SecretUnreadable."""
        return secret_decrypt(
            self.encrypted_secret, organization_id=self.organization_id, endpoint_id=self.pk
        )

    def secret_renew(self) -> None:
        """Give it a new secret; the caller saves."""
        self.encrypted_secret = secret_encrypt(
            secret_generate(), organization_id=self.organization_id, endpoint_id=self.pk
        )


class WebhookDelivery(models.Model):
    """One event for one endpoint, until it is delivered or given up.

    `event_id` stays the same over retries and replays: receivers recognise repeats by it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(
        WebhookEndpoint, on_delete=models.CASCADE, related_name="deliveries"
    )
    event_id = models.UUIDField()
    type = models.CharField(max_length=40, choices=WebhookType.choices)
    payload = models.JSONField()
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty: delivered or given up."
    )
    claimed_until = models.DateTimeField(null=True, blank=True, help_text="While it is being sent.")
    delivered_at = models.DateTimeField(null=True, blank=True)
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True)

    class Meta:
        verbose_name_plural = "webhook deliveries"
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "event_id"], name="webhook_event_once")
        ]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(next_attempt_at__isnull=False),
                name="webhook_due",
            ),
            models.Index(
                fields=["claimed_until"],
                condition=Q(claimed_until__isnull=False),
                name="webhook_claimed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} to {self.endpoint}"

    @property
    def state(self) -> str:
        """`delivered`, `pending` or `failed`."""
        if self.delivered_at is not None:
            return "delivered"
        return "pending" if self.next_attempt_at is not None else "failed"
