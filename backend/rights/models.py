"""Tables of the data rights: exports and erasures, both jobs of one queue.

Invariants, held by constraints or by jobs.py:
- a subject is a user or an organization, by id: a certificate outlives what it names;
- a subject has at most one unfinished job of a kind;
- `claimed_until` is in the future only while a worker is at the job, or until it is tried again;
- only the worker that has `lease` writes the row (lease.py).
"""

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class SubjectKind(models.TextChoices):
    USER = "user"
    ORGANIZATION = "organization"


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    HELD = "held", "waits for the end of a legal hold"
    DONE = "done"
    FAILED = "failed"


UNFINISHED = (JobState.QUEUED, JobState.RUNNING, JobState.HELD)


class DataJob(models.Model):
    """What exports and erasures have in common.

    Attributes:
        progress: what is done, by table; a resumed job skips it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=12, choices=SubjectKind.choices)
    subject_id = models.UUIDField()
    requested_by_id = models.UUIDField(null=True, help_text="Empty: the product itself.")
    state = models.CharField(max_length=8, choices=JobState.choices, default=JobState.QUEUED)
    progress = models.JSONField(default=dict)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    finished_at = models.DateTimeField(null=True)
    claimed_until = models.DateTimeField(null=True)
    lease = models.UUIDField(null=True, help_text="Of the worker that is at it, or was last.")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{type(self).__name__} of {self.kind} {self.subject_id} ({self.state})"

    @property
    def scope(self) -> dict[str, uuid.UUID]:
        """The subject as the keyword arguments of a legal hold."""
        return {f"{self.kind}_id": self.subject_id}


class DataExport(DataJob):
    """A copy of a subject's data: a zip, until it expires."""

    file = models.FileField(max_length=200, blank=True)
    size = models.BigIntegerField(default=0, help_text="Bytes.")
    sha256 = models.CharField(max_length=64, blank=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject_id"],
                condition=Q(state__in=["queued", "running", "held"]),
                name="export_one_unfinished",
            )
        ]


class Erasure(DataJob):
    """The erasure of a subject's data, and its certificate."""

    reason = models.CharField(max_length=300, blank=True)
    notify = models.EmailField(
        blank=True, help_text="Who gets the certificate; empty once it is in the mail."
    )
    language = models.CharField(
        max_length=10,
        blank=True,
        default="",
        db_default="",
        help_text="Of that mail; empty: English, and once it is in the mail.",
    )
    certificate = models.JSONField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "subject_id"],
                condition=Q(state__in=["queued", "running", "held"]),
                name="erasure_one_unfinished",
            )
        ]
