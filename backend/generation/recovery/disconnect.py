"""What happens when nobody reads a generation any more."""

import asyncio

import structlog
from redis.exceptions import RedisError

from backend.generation.process import Process
from backend.generation.run.active import LiveGeneration

log = structlog.get_logger(__name__)

_checks: set[asyncio.Task[None]] = set()


def abandonment_check(process: Process, live: LiveGeneration) -> None:
    """Cancel `live`, unless another process has readers of it. Called when its time is over."""
    if process.draining or live.opened.id not in process.live:
        return  # readers are being sent elsewhere: that they go means nothing
    task = asyncio.create_task(_check(process, live))
    _checks.add(task)
    task.add_done_callback(_checks.discard)


async def _check(process: Process, live: LiveGeneration) -> None:
    try:
        watched = await process.leases.is_watched(live.opened.id)
    except (RedisError, OSError):
        watched = False
    if watched:
        live.watched_elsewhere()
        return
    log.info("generation_abandoned", generation_id=str(live.opened.id))
    live.request_stop("cancelled")
