"""Background work of the safety audit; settings name the schedule."""

from celery import shared_task

from safety.audit.drift import drift_check
from safety.audit.services import expired_texts_delete


@shared_task(name="safety.audit.tasks.delete_expired_texts")
def delete_expired_texts() -> int:
    return expired_texts_delete()


@shared_task(name="safety.audit.tasks.watch_block_rate")
def watch_block_rate() -> float | None:
    return drift_check()
