"""The tables behind `Idempotency-Key` (idempotency.py), `/v1/responses` (responses/), stored chat
completions (stored_chats/), `/v1/files` (files/), `/v1/batches` (batches/) and the log of requests
(request_logs/)."""

import uuid
from typing import Any

from django.db import models
from django.utils import timezone

from backend.accounts.models import APIKey, Organization, Project, User
from backend.api.request_content import content_of
from backend.platform.ids import time_ordered_id


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


class StoredChat(models.Model):
    """What was asked with POST /v1/chat/completions and `store: true`, by its generation's id.
    stored_chats/rows.py is its only writer."""

    id = models.UUIDField(primary_key=True)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    model = models.CharField(max_length=100)
    messages = models.TextField(help_text="As they came, as JSON.")
    asked = models.TextField(help_text="Its parameters, as its object shows them, as JSON.")
    metadata = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "user", "created_at"], name="stored_chat_list"),
        ]

    def __str__(self) -> str:
        return f"Chat completion {self.pk}"


class FilePurpose(models.TextChoices):
    BATCH = "batch"
    BATCH_OUTPUT = "batch_output"


class StoredFile(models.Model):
    """A file of `/v1/files`. files/rows.py writes it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(
        Project, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Its retention."
    )
    purpose = models.CharField(max_length=16, choices=FilePurpose.choices)
    filename = models.CharField(max_length=255)
    size = models.BigIntegerField(help_text="Bytes.")
    file = models.CharField(max_length=100, help_text="Its name in the storage.")
    is_ready = models.BooleanField(default=False, help_text="Its bytes are all there.")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(null=True, db_index=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "user", "-created_at"], name="file_list"),
            models.Index(
                fields=["created_at"], condition=models.Q(is_ready=False), name="file_unready"
            ),
        ]

    def __str__(self) -> str:
        return f"File {self.pk}"


class UploadState(models.TextChoices):
    PENDING = "pending"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class Upload(models.Model):
    """A file that comes in parts. files/uploads.py writes it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(
        Project, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Its retention."
    )
    purpose = models.CharField(max_length=16, choices=FilePurpose.choices)
    filename = models.CharField(max_length=255)
    size = models.BigIntegerField(help_text="Bytes, as announced.")
    content_type = models.CharField(max_length=100)
    state = models.CharField(
        max_length=16, choices=UploadState.choices, default=UploadState.PENDING
    )
    file = models.ForeignKey(StoredFile, on_delete=models.SET_NULL, null=True, related_name="+")
    file_expires_after = models.PositiveIntegerField(null=True, help_text="Seconds.")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"Upload {self.pk}"

    @property
    def shown_state(self) -> str:
        is_late = self.state == UploadState.PENDING and self.expires_at <= timezone.now()
        return UploadState.EXPIRED if is_late else self.state


class UploadPart(models.Model):
    """One part; its bytes lie in the storage until the upload ends."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, related_name="parts")
    size = models.BigIntegerField(help_text="Bytes.")
    file = models.CharField(max_length=100, help_text="Its name in the storage.")
    is_ready = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Part {self.pk}"


class BatchState(models.TextChoices):
    VALIDATING = "validating"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    CANCELLING = "cancelling"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


OPEN_BATCH_STATES = (
    BatchState.VALIDATING,
    BatchState.IN_PROGRESS,
    BatchState.FINALIZING,
    BatchState.CANCELLING,
)


class Batch(models.Model):
    """Many requests in one file, answered within a day. batches/rows.py describes its life."""

    id = models.UUIDField(primary_key=True, default=time_ordered_id, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(
        Project, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Its retention."
    )
    api_key = models.ForeignKey(APIKey, on_delete=models.SET_NULL, null=True, related_name="+")
    endpoint = models.CharField(max_length=40)
    model = models.CharField(max_length=100, blank=True, help_text="Known once it is validated.")
    input_file_id = models.UUIDField()
    output_file_id = models.UUIDField(null=True)
    error_file_id = models.UUIDField(null=True)
    state = models.CharField(
        max_length=16, choices=BatchState.choices, default=BatchState.VALIDATING
    )
    outcome = models.CharField(
        max_length=16,
        blank=True,
        choices=BatchState.choices,
        help_text="The state that it will end in, once nothing more of it is begun.",
    )
    metadata = models.JSONField(default=dict)
    problems = models.JSONField(default=list, help_text="Why it failed, as OpenAI lists them.")
    output_expires_after = models.PositiveIntegerField(null=True, help_text="Seconds.")
    total = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0, help_text="Set at its end.")
    failed = models.PositiveIntegerField(default=0, help_text="Set at its end.")
    claimed_until = models.DateTimeField(
        null=True, help_text="While a process validates it, or writes its files."
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    in_progress_at = models.DateTimeField(null=True)
    finalizing_at = models.DateTimeField(null=True)
    cancelling_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "batches"
        indexes = [
            models.Index(fields=["organization", "user", "-created_at"], name="batch_list"),
            models.Index(
                fields=["created_at"],
                condition=models.Q(
                    state__in=["validating", "in_progress", "finalizing", "cancelling"]
                ),
                name="batch_open",
            ),
        ]

    def __str__(self) -> str:
        return f"Batch {self.pk} ({self.state})"

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_BATCH_STATES


class BatchLine(models.Model):
    """One request of a batch, until the batch has ended."""

    id = models.BigAutoField(primary_key=True)
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="lines")
    number = models.PositiveIntegerField()
    custom_id = models.CharField(max_length=512)
    body = models.TextField(help_text="Its request, as JSON.")
    attempt = models.PositiveSmallIntegerField(
        default=0, help_text="Grows where a generation ended without an answer."
    )
    claimed_until = models.DateTimeField(
        null=True, help_text="While a process answers it; or not to be begun before."
    )
    answer = models.TextField(blank=True, help_text="What a file will say of it, as JSON.")
    is_error = models.BooleanField(default=False)
    is_done = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "number"], name="batch_line_once"),
        ]
        indexes = [
            models.Index(
                fields=["batch", "number"],
                condition=models.Q(is_done=False),
                name="batch_line_undone",
            ),
        ]

    def __str__(self) -> str:
        return f"Line {self.number} of batch {self.batch_id}"


class RequestLog(models.Model):
    """One request of an API key, where its organization logs them. request_logs/rows.py writes
    it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    api_key = models.ForeignKey(APIKey, on_delete=models.CASCADE, related_name="+")
    generation_id = models.UUIDField(null=True, help_text="Empty where it was refused.")
    path = models.CharField(max_length=64)
    model = models.CharField(max_length=100, blank=True, help_text="As it was asked for.")
    status = models.PositiveSmallIntegerField(help_text="Of the HTTP answer.")
    code = models.CharField(max_length=64, blank=True, help_text="Of its error.")
    duration_ms = models.PositiveIntegerField()
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    request_id = models.CharField(max_length=128)
    ciphertext = models.TextField(blank=True, help_text="Request and answer; empty: not kept.")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "-created_at"], name="request_log_list"),
            models.Index(fields=["api_key", "-created_at"], name="request_log_of_key"),
            models.Index(fields=["project", "created_at"], name="request_log_of_project"),
        ]

    @property
    def content(self) -> dict[str, Any] | None:
        """`request` and `answer`; None where they are not kept. Raises Unreadable."""
        return content_of(self)

    def __str__(self) -> str:
        return f"Request {self.pk}"


class RequestCount(models.Model):
    """How many requests of a key had one outcome in one hour. request_logs/rows.py writes it."""

    organization = models.ForeignKey(Organization, on_delete=models.CASCADE, related_name="+")
    api_key = models.ForeignKey(APIKey, on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField(db_index=True)
    path = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    code = models.CharField(max_length=64, blank=True)
    requests = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["api_key", "hour", "path", "status", "code"], name="request_count_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.requests} requests of {self.api_key_id}"
