"""The queue of exports and erasures: oldest first, erasures before exports.

A worker claims a job for some minutes and renews the claim while it works; after that another one
takes it up. A legal hold that begins meanwhile stops an erasure until the hold ends.
"""

from datetime import timedelta

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from backend.accounts.legal_hold import refuse_held
from backend.platform.errors import LegallyHeld
from backend.rights.erasure import NotYet, erase
from backend.rights.export import export, export_discard
from backend.rights.models import UNFINISHED, DataExport, DataJob, Erasure, JobState

LEASE = timedelta(minutes=2)
MAX_ATTEMPTS = 5
_TRY_AGAIN = timedelta(seconds=5)

log = structlog.get_logger(__name__)


def jobs_run() -> int:
    """Work until nothing is due. Several workers share the work. Returns how many were ended."""
    ended = 0
    for model in (Erasure, DataExport):
        while (job := _claim(model)) is not None:
            ended += _run(job)
    return ended


def _claim(model: type[DataJob]) -> DataJob | None:
    now = timezone.now()
    with transaction.atomic():
        job = (
            model._default_manager.select_for_update(skip_locked=True)
            .filter(Q(claimed_until=None) | Q(claimed_until__lt=now), state__in=UNFINISHED)
            .order_by("created_at")
            .first()
        )
        if job is not None:
            job.state, job.claimed_until = JobState.RUNNING, now + LEASE
            job.attempts += 1
            job.save(update_fields=["state", "claimed_until", "attempts"])
    return job


def _run(job: DataJob) -> bool:
    def renew() -> None:
        type(job)._default_manager.filter(pk=job.pk).update(claimed_until=timezone.now() + LEASE)

    try:
        if isinstance(job, Erasure):
            refuse_held(**job.scope)
            erase(job, renew=renew)
        elif isinstance(job, DataExport):
            export(job, renew=renew)
    except LegallyHeld:
        _put_off(job, JobState.HELD, timedelta(hours=1))
        return False
    except NotYet:
        _put_off(job, JobState.RUNNING, _TRY_AGAIN)
        return False
    except Exception as error:
        log.exception("data_job_failed", job=str(job.pk), kind=type(job).__name__)
        _fail(job, error)
        return False
    log.info("data_job_done", job=str(job.pk), kind=type(job).__name__)
    return True


def _put_off(job: DataJob, state: JobState, wait: timedelta) -> None:
    """It was no failure: the attempt does not count."""
    job.state, job.claimed_until, job.attempts = state, timezone.now() + wait, 0
    job.save(update_fields=["state", "claimed_until", "attempts"])


def _fail(job: DataJob, error: Exception) -> None:
    """Try again later, a few times. An export that failed leaves no files behind."""
    last = job.attempts >= MAX_ATTEMPTS
    job.state = JobState.FAILED if last else JobState.QUEUED
    job.error = f"{type(error).__name__}: {error}"[:300]
    job.claimed_until = timezone.now() + _TRY_AGAIN * 2**job.attempts
    job.save(update_fields=["state", "error", "claimed_until"])
    if last and isinstance(job, DataExport):
        export_discard(job)
