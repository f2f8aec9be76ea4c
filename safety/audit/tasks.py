"""Background work of the safety audit; settings name the schedule."""

from backend.platform.periodic import periodic_task
from safety.audit.drift import drift_check
from safety.audit.services import expired_texts_delete


@periodic_task()
def delete_expired_texts() -> int:
    return expired_texts_delete()


@periodic_task()
def watch_block_rate() -> float | None:
    return drift_check()
