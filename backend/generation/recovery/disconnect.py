"""What happens when a generation has no readers any more."""

import asyncio

import structlog
from redis.exceptions import RedisError

from backend.generation.run.active import ActiveGeneration, ActiveGenerations
from backend.generation.stream.leases import Leases

log = structlog.get_logger(__name__)


class DisconnectCheck:
    """Cancels generations without readers, unless another process has some."""

    def __init__(self, registry: ActiveGenerations, leases: Leases) -> None:
        self._registry = registry
        self._leases = leases
        self._checks: set[asyncio.Task[None]] = set()

    def begin(self, active: ActiveGeneration) -> None:
        """Called when the disconnect grace of `active` is over."""
        if self._registry.draining or active.id not in self._registry:
            return  # readers are being sent elsewhere: that they go means nothing
        if active.request.on_disconnect == "go_on":
            return
        task = asyncio.create_task(self._check(active))
        self._checks.add(task)
        task.add_done_callback(self._checks.discard)

    async def _check(self, active: ActiveGeneration) -> None:
        try:
            has_readers = await self._leases.has_readers(active.id)
        except (RedisError, OSError):
            has_readers = False
        if has_readers:
            active.has_readers_elsewhere()
            return
        log.info("generation_without_readers", generation_id=str(active.id))
        active.request_stop("cancelled")
