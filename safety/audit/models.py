"""Tables of the safety audit: what was decided, and under which policy.

Invariants, held by constraints:
- a policy row is never changed in its document: a change is a new row with the next version;
- one organization and model have at most one row of each version;
- of a checked text only a SHA-256 is stored, unless the policy says how long to retain the text.

Generations, users and keys are named by id only: `safety` may not know the apps that own them,
and a record outlives them.
"""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from safety.audit.texts import text_decrypt
from safety.types import Action


class StageChoice(models.TextChoices):
    PROMPT = "prompt"
    OUTPUT = "output"


# Of decisions, which know no `halt`: it has become a flag or a block (`Policy.action`).
ACTION_CHOICES = [(str(action), str(action)) for action in Action if action is not Action.HALT]


class SafetyPolicy(models.Model):
    """One version of a policy for an organization (null: all) and a model (empty: all)."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        "accounts.Organization",
        on_delete=models.CASCADE,
        related_name="safety_policies",
        null=True,
        blank=True,
        help_text="Empty: every organization without a policy of its own.",
    )
    model = models.CharField(
        max_length=100, blank=True, help_text="Empty: every model without a policy of its own."
    )
    version = models.PositiveIntegerField()
    document = models.JSONField(help_text="What differs from the default policy.")
    is_active = models.BooleanField(
        default=True, help_text="The newest version rules; inactive: as if there were none."
    )
    comment = models.CharField(max_length=500, blank=True)
    created_by_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "policy version"
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "model", "version"],
                name="safety_policy_version_unique",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        scope = self.organization.name if self.organization else "everyone"
        return f"{scope}, {self.model or 'every model'}, version {self.version}"


class SafetyDecisionRecord(models.Model):
    """One stored SafetyDecision. Never changed after it was written.

    `layer`, `signals` and `failed` hold names that outlive a renaming in the code: `lexical` is the
    rules, `doubtful_question` an answer to an uncertain prompt.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        "accounts.Organization", on_delete=models.CASCADE, related_name="safety_decisions"
    )
    generation_id = models.UUIDField(null=True, blank=True, db_index=True)
    user_id = models.UUIDField(null=True, blank=True)
    key_id = models.UUIDField(null=True, blank=True)
    stage = models.CharField(max_length=8, choices=StageChoice.choices)
    action = models.CharField(max_length=8, choices=ACTION_CHOICES)
    would_be = models.CharField(max_length=8, choices=ACTION_CHOICES, blank=True)
    layer = models.CharField(max_length=20)
    categories = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    signals = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    failed = ArrayField(models.CharField(max_length=40), default=list, blank=True)
    scores = models.JSONField(default=dict, blank=True)
    policy_version = models.CharField(max_length=100)
    latency_ms = models.FloatField()
    text_sha256 = models.CharField(max_length=64, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "decision"
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["organization", "-created_at"], name="safety_dec_org_time"),
            models.Index(
                fields=["-created_at"],
                name="safety_dec_not_allowed",
                condition=~Q(action="allow"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.action} {', '.join(self.categories) or 'nothing found'}"


class StoredText(models.Model):
    """The retained text of a decision, encrypted, where the policy retains it for some days."""

    decision = models.OneToOneField(
        SafetyDecisionRecord,
        on_delete=models.CASCADE,
        related_name="stored_text",
        primary_key=True,
    )
    ciphertext = models.BinaryField()
    expires_at = models.DateTimeField(db_index=True)

    @property
    def text(self) -> str:
        """The text again. Raises TextUnreadable."""
        return text_decrypt(
            bytes(self.ciphertext),
            organization_id=self.decision.organization_id,
            decision_id=self.decision_id,
        )

    def __str__(self) -> str:
        return f"text of {self.decision_id}, until {self.expires_at:%Y-%m-%d}"


class ReviewState(models.TextChoices):
    OPEN = "open"
    CONFIRMED = "confirmed"
    OVERTURNED = "overturned"


class ReviewReason(models.TextChoices):
    POLICY = "policy", "the policy asks for it"
    APPEAL = "appeal", "the user appeals"


class Review(models.Model):
    """A decision that a person looks at; at most one a decision."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    decision = models.OneToOneField(
        SafetyDecisionRecord, on_delete=models.CASCADE, related_name="review"
    )
    reason = models.CharField(max_length=8, choices=ReviewReason.choices)
    state = models.CharField(
        max_length=10, choices=ReviewState.choices, default=ReviewState.OPEN, db_index=True
    )
    appeal = models.TextField(blank=True, help_text="What the user wrote.")
    note = models.TextField(blank=True, help_text="What the reviewer found.")
    reviewer_id = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="open", resolved_at=None)
                | (~Q(state="open") & Q(resolved_at__isnull=False)),
                name="review_resolved_has_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_state_display()}: {self.decision}"
