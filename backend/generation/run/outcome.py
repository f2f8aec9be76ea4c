"""Why a generation ends."""

from dataclasses import dataclass

from backend.generation.models import GenerationState
from backend.platform.errors import ParleyError


@dataclass(frozen=True, slots=True)
class Outcome:
    """Its terminal state, and the error where there is one."""

    state: GenerationState
    finish_reason: str
    error: ParleyError | None = None


CANCELLED = Outcome(GenerationState.CANCELLED, "cancelled")
