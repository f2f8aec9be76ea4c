"""Take the lease of a generation whose row is stored, or end the row where it cannot be started.

Between the two the process may have stalled for as long as another one waits before it ends or
continues what it takes for lost. So the row is asked once the lease is taken.
"""

from typing import Literal

import structlog
from django.db import DatabaseError

from backend.generation.models import Generation, GenerationState
from backend.generation.records import (
    FinalState,
    Standing,
    Superseded,
    generation_finish,
    generation_standing,
)
from backend.generation.request import AdmittedGeneration
from backend.generation.stream.leases import Leases
from backend.generation.usage import Usage
from backend.platform.database import in_database
from backend.platform.errors import Overloaded

log = structlog.get_logger(__name__)

FIRST_EPOCH = 1


async def lease_take(leases: Leases, admitted: AdmittedGeneration, *, ttl_ms: int) -> Standing:
    """Take the lease; only a generation that is still `ours` keeps it."""
    await leases.acquire(admitted, epoch=FIRST_EPOCH, ttl_ms=ttl_ms)
    lease = leases.value(FIRST_EPOCH)
    try:
        standing = await in_database(
            generation_standing, generation_id=admitted.id, epoch=FIRST_EPOCH
        )
    except DatabaseError:
        await leases.release(admitted.id, lease, "ended")
        raise
    if standing != "ours":
        log.warning("generation_not_started", standing=standing)
        why: Literal["ended", "handover"] = "ended" if standing == "lost" else "handover"
        await leases.release(admitted.id, lease, why)
    return standing


async def unstarted_end(admitted: AdmittedGeneration, row: Generation | None) -> None:
    """End a row whose generation could not be started. Should that fail too, the reaper ends it."""
    final = FinalState(
        state=GenerationState.FAILED,
        finish_reason="error",
        text="",
        usage=Usage(),
        error_code=Overloaded.code or "",
    )
    try:
        await in_database(
            generation_finish, generation_id=admitted.id, row=row, epoch=FIRST_EPOCH, final=final
        )
    except (Superseded, Generation.DoesNotExist):
        pass  # another process ends it, or has; or its organization was deleted
    except DatabaseError as error:
        generation_id = str(admitted.id)
        log.error("generation_left_to_reaper", generation_id=generation_id, error=str(error))
