"""Celery tasks of the API."""

from backend.api.batches.rows import purge_batches
from backend.api.files.rows import purge_files
from backend.api.idempotency import purge_expired
from backend.api.request_logs.rows import request_logs_purge
from backend.api.responses.rows import purge_responses
from backend.platform.periodic import periodic_task


@periodic_task()
def purge_idempotency_records() -> int:
    """Every hour: answers are content, and are not kept longer than promised."""
    return purge_expired()


@periodic_task()
def purge_stored_responses() -> int:
    """Every hour, with their answers."""
    return purge_responses()


@periodic_task()
def purge_stored_files() -> int:
    """Every ten minutes: files that have expired or are kept no longer, what was left
    half-uploaded, batches that are kept no longer."""
    return purge_files() + purge_batches()


@periodic_task()
def purge_request_logs() -> int:
    """Every hour: logged requests that are kept no longer, and counts of a quarter ago."""
    return request_logs_purge()
