"""The table of generations.

Invariants, held by constraints and by records.py, the only writer of a terminal state:
- a generation leaves `queued`/`running` once, in the transaction that also stores its message's
  text and its UsageRecord;
- `epoch` grows by one each time another process takes it up; only the holder of the current
  epoch can end it. It fences a process that was thought dead and was only slow.
"""

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone

from backend.accounts.models import APIKey, Organization, Project
from billing.models.usage import TokenColumns


class GenerationState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"
    FAILED = "failed"


OPEN_STATES = (GenerationState.QUEUED, GenerationState.RUNNING)
LOST = "lost"
"""The error code of a generation whose process and stream are both gone (recovery/reaper.py)."""

FROM_OUTAGE = "outage"
"""The `answer_source` of one that was given a stored answer because no model could serve."""


class Generation(TokenColumns):
    """One answer being produced, for a chat turn or an API call. Holds no content."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="generations"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="generations")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="generations"
    )
    api_key = models.ForeignKey(
        APIKey, on_delete=models.SET_NULL, null=True, blank=True, related_name="generations"
    )
    conversation_id = models.UUIDField(null=True, blank=True)
    message_id = models.UUIDField(null=True, blank=True)
    request_id = models.CharField(max_length=128)
    client_hash = models.CharField(
        max_length=64, blank=True, help_text="Keyed hash of the client's address."
    )
    endpoint = models.CharField(max_length=16)
    model = models.CharField(max_length=100)
    service_tier = models.CharField(
        max_length=16, blank=True, default="", db_default="", help_text="Empty: the usual price."
    )
    pool = models.CharField(
        max_length=100, blank=True, help_text="Empty when no engine saw the prompt."
    )
    replica = models.CharField(max_length=100, blank=True, help_text="The last one that served it.")
    answer_source = models.CharField(
        max_length=8,
        blank=True,
        default="",
        db_default="",
        help_text="Whose answer it got: `shared`, `exact`, `outage`; empty: its own.",
    )
    state = models.CharField(
        max_length=16, choices=GenerationState.choices, default=GenerationState.QUEUED
    )
    finish_reason = models.CharField(max_length=32, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    ttft_ms = models.PositiveIntegerField(null=True, blank=True)
    duration_ms = models.PositiveIntegerField(null=True, blank=True)
    stations = models.JSONField(
        null=True, blank=True, help_text="Milliseconds at each station; generation/stations.py."
    )
    epoch = models.PositiveIntegerField(default=1)
    deadline_at = models.DateTimeField(help_text="It has ended by then, or it is reaped.")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at"], name="generation_organization"),
            models.Index(
                fields=["organization", "finished_at"],
                condition=models.Q(endpoint="embedding"),
                name="generation_embeddings",
            ),
            models.Index(
                fields=["organization", "finished_at"],
                condition=models.Q(endpoint__in=["transcription", "translation", "speech"]),
                name="generation_voice",
            ),
            models.Index(
                fields=["deadline_at"],
                condition=models.Q(state__in=["queued", "running"]),
                name="generation_open",
            ),
            models.Index(
                fields=["conversation_id"],
                condition=models.Q(state__in=["queued", "running"]),
                name="generation_open_conversation",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running"])
                | models.Q(finished_at__isnull=False),
                name="generation_terminal_is_finished",
            ),
        ]

    def __str__(self) -> str:
        return f"Generation {self.id} ({self.state})"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES


class Pool(models.Model):
    """What staff say of one model: it comes before the pools files, for models that they have too.

    `definition` is a [[model]] of such a file, with its replicas; docs/generation.md, "Pools".
    Written by pools/rows.py alone, which checks it.
    """

    model_id = models.CharField(
        "model", max_length=100, primary_key=True, help_text="What clients call it."
    )
    is_enabled = models.BooleanField(
        "served", default=True, help_text="Off: the model does not exist for anybody."
    )
    position = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Its place in the list, from 0. The first model with an alias keeps it: who is"
        " first and has the alias auto is the default. Empty: where it stands in the file.",
    )
    definition = models.JSONField(
        help_text="A [[model]] of a pools file, as JSON. Text may hold ${VARIABLE}."
    )
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["position", "model_id"]

    def __str__(self) -> str:
        return self.model_id


class Rollout(models.Model):
    """A model that is tried on a part of another one's requests (pools/rollouts.py). It is taken
    back by itself where it does worse; saving the row begins anew."""

    model = models.CharField(
        max_length=100, unique=True, help_text="What clients ask for: a model's id, or an alias."
    )
    candidate = models.CharField(max_length=100, help_text="The id of the model that is tried.")
    percent = models.FloatField(
        validators=[MinValueValidator(0), MaxValueValidator(100)],
        help_text="Of the conversations; one stays with its model.",
    )
    is_shadow = models.BooleanField(
        "in shadow",
        default=False,
        help_text="The candidate gets copies of them, where it has places left. Nobody reads or"
        " pays its answers.",
    )
    failure_margin = models.FloatField(
        default=0.05,
        validators=[MinValueValidator(0.01), MaxValueValidator(1)],
        help_text="What part of its answers may fail beyond those of the usual model.",
    )
    slow_margin = models.FloatField(
        default=0.15,
        validators=[MinValueValidator(0.01), MaxValueValidator(1)],
        help_text="What part may begin late, beyond the usual model's slowest tenth.",
    )
    min_answers = models.PositiveIntegerField(
        default=20, help_text="Of the candidate, before anything is decided."
    )
    is_active = models.BooleanField("in force", default=True)
    trial_id = models.UUIDField(default=uuid.uuid4, editable=False)
    retreated_at = models.DateTimeField(null=True, editable=False)
    reason = models.CharField(max_length=500, blank=True, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["model"]

    def __str__(self) -> str:
        how = "copied to" if self.is_shadow else "to"
        return f"{self.percent:g} % of {self.model} {how} {self.candidate}"


class StoredAnswer(models.Model):
    """The text of an answer that is to be read later, for callers who have no message for it.

    Made with its generation, and filled in the transaction that ends that.
    """

    generation = models.OneToOneField(
        Generation, on_delete=models.CASCADE, primary_key=True, related_name="stored_answer"
    )
    text = models.TextField(
        blank=True, help_text="With calls as part of it, see backend/generation/tools.py."
    )

    def __str__(self) -> str:
        return f"Answer of {self.pk}"


class CachedAnswer(models.Model):
    """An answer that answers later requests of its organization too, for a while.

    Written and read by reuse/answers.py alone. `digest` is a keyed hash that holds the
    organization (reuse/keys.py).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="cached_answers"
    )
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="cached_answers")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="cached_answers"
    )
    generation_id = models.UUIDField(help_text="That computed it.")
    model = models.CharField(max_length=100)
    digest = models.CharField(max_length=64)
    revision = models.TextField(
        blank=True, default="", db_default="", help_text="Of the model that computed it."
    )
    ciphertext = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "digest"], name="cached_answer_of_digest"
            )
        ]
        indexes = [
            models.Index(fields=["expires_at"], name="cached_answer_expires"),
            models.Index(fields=["generation_id"], name="cached_answer_generation"),
        ]

    def __str__(self) -> str:
        return f"Answer of {self.generation_id}, until {self.expires_at:%Y-%m-%d %H:%M}"
