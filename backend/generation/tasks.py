"""Background work of `generation`; each task is safe to run twice."""

from celery import shared_task

from backend.generation.pools.accounting import engines_note


@shared_task
def note_engine_hours() -> int:
    """Every fifteen seconds: what engines have counted."""
    return engines_note()
