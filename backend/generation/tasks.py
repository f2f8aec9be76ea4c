"""Background work of `generation`; each task is safe to run twice."""

from backend.generation.pools.accounting import engines_note
from backend.generation.reuse.answers import answers_purge
from backend.platform.periodic import periodic_task


@periodic_task()
def note_engine_hours() -> int:
    """Every fifteen seconds: what engines have counted."""
    return engines_note()


@periodic_task()
def purge_cached_answers() -> int:
    """Every ten minutes: answers that no request gets any more."""
    return answers_purge()
