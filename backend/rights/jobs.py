"""The queue of exports and erasures: oldest first, erasures before exports.

A worker has a lease on its job and renews it at each chunk of work (lease.py); one that was away
for longer is stopped by another's. A legal hold that begins meanwhile stops an erasure until the
hold ends.
"""

from datetime import timedelta

import structlog
from django.utils import timezone

from backend.accounts.legal_hold import refuse_held
from backend.platform.errors import LegallyHeld
from backend.rights.erasure import NotYet, erase
from backend.rights.export import export
from backend.rights.export_files import export_folder, folder_delete
from backend.rights.lease import Lease, LeaseLost
from backend.rights.models import UNFINISHED, DataExport, DataJob, Erasure, JobState

MAX_ATTEMPTS = 5
_TRY_AGAIN = timedelta(seconds=5)

log = structlog.get_logger(__name__)


def jobs_run(*kinds: type[DataJob]) -> int:
    """Work until nothing is due, of some kinds or of both. Several workers share the work. Returns
    how many were ended."""
    ended = 0
    for model in kinds or (Erasure, DataExport):
        while (lease := Lease.claim(model)) is not None:
            ended += _run(lease)
    return ended


def _run(lease: Lease) -> bool:
    job = lease.job
    try:
        if isinstance(job, Erasure):
            refuse_held(**job.scope)
            erase(job, lease=lease)
        elif isinstance(job, DataExport):
            export(job, lease=lease)
    except LeaseLost:
        _withdraw(job)
        return False
    except Exception as error:
        return _ended_by(error, lease)
    log.info("data_job_done", job=str(job.pk), kind=type(job).__name__)
    return True


def _ended_by(error: Exception, lease: Lease) -> bool:
    job = lease.job
    try:
        if isinstance(error, LegallyHeld):
            _put_off(lease, JobState.HELD, timedelta(hours=1))
        elif isinstance(error, NotYet):
            _put_off(lease, JobState.RUNNING, _TRY_AGAIN)
        else:
            log.error("data_job_failed", job=str(job.pk), kind=type(job).__name__, exc_info=error)
            _fail(lease, error)
    except LeaseLost:
        _withdraw(job)
    return False


def _withdraw(job: DataJob) -> None:
    """The job is not this worker's any more. Where it was ended, as by an erasure of its subject,
    what this worker wrote goes, and whoever waits for it need not."""
    log.warning("data_job_lease_lost", job=str(job.pk), kind=type(job).__name__)
    if not isinstance(job, DataExport):
        return
    if not DataExport.objects.filter(pk=job.pk, state__in=[*UNFINISHED, JobState.DONE]).exists():
        folder_delete(export_folder(job.pk))
        DataExport.objects.filter(pk=job.pk).update(claimed_until=None)


def _put_off(lease: Lease, state: JobState, wait: timedelta) -> None:
    """It was no failure: the attempt does not count."""
    job = lease.job
    job.state, job.claimed_until, job.attempts = state, timezone.now() + wait, 0
    lease.store("state", "claimed_until", "attempts")


def _fail(lease: Lease, error: Exception) -> None:
    """Try again later, a few times. An export that failed leaves no files behind."""
    job = lease.job
    last = job.attempts >= MAX_ATTEMPTS
    job.state = JobState.FAILED if last else JobState.QUEUED
    job.error = f"{type(error).__name__}: {error}"[:300]
    job.claimed_until = None if last else timezone.now() + _TRY_AGAIN * 2**job.attempts
    lease.store("state", "error", "claimed_until")
    if last and isinstance(job, DataExport):
        folder_delete(export_folder(job.pk))
