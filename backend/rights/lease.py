"""A worker's lease on a job: a token in the row, and a time until which nobody else takes the job.

Invariant: only the worker whose token the row has writes the row. One that was away for longer than
its lease finds another token, and ends where it is.
"""

import threading
import time
from datetime import timedelta
from uuid import uuid4

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from backend.rights.models import UNFINISHED, DataJob, JobState

LEASE = timedelta(minutes=2)
_RENEWALS = 8
"""Renewals of a lease in its lifetime, at most."""


class LeaseLost(Exception):
    """Another worker has the job, it was ended, or its row is gone."""


class Lease:
    """The lease of one worker on `job`, from `claim` on."""

    def __init__(self, job: DataJob) -> None:
        self.job = job
        self._renewed_at = time.monotonic()
        self._thread = threading.get_ident()

    @classmethod
    def claim(cls, model: type[DataJob]) -> "Lease | None":
        """Take the oldest job that is due and that no worker is at."""
        now = timezone.now()
        with transaction.atomic():
            job = (
                model._default_manager.select_for_update(skip_locked=True)
                .filter(Q(claimed_until=None) | Q(claimed_until__lt=now), state__in=UNFINISHED)
                .order_by("created_at")
                .first()
            )
            if job is None:
                return None
            job.state, job.claimed_until, job.lease = JobState.RUNNING, now + LEASE, uuid4()
            job.attempts += 1
            job.save(update_fields=["state", "claimed_until", "lease", "attempts"])
        return cls(job)

    def renew(self) -> None:
        """To be called at each chunk of work, from any thread. Raises LeaseLost."""
        if time.monotonic() - self._renewed_at < LEASE.total_seconds() / _RENEWALS:
            return
        self._renewed_at = time.monotonic()
        try:
            self._update(claimed_until=timezone.now() + LEASE)
        finally:
            if threading.get_ident() != self._thread:  # such as a storage's own for an upload
                connection.close()

    def check(self) -> None:
        """Before something that cannot be taken back. Raises LeaseLost."""
        self._update(claimed_until=timezone.now() + LEASE)

    def store(self, *fields: str) -> None:
        """Write fields of the job. Raises LeaseLost: nothing was written."""
        self._update(**{name: getattr(self.job, name) for name in fields})

    def _update(self, **values: object) -> None:
        job = self.job
        rows = type(job)._default_manager.filter(pk=job.pk, lease=job.lease)
        if not rows.update(**values):
            raise LeaseLost(f"{job} is another worker's.")
