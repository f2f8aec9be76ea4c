"""What all generations of one web process share."""

from dataclasses import dataclass, field
from uuid import UUID

from redis.asyncio import Redis

from backend.generation.admission.queue import AdmissionQueue
from backend.generation.admission.rate_limits import Limiter
from backend.generation.pools.client import UpstreamClient
from backend.generation.pools.config import PoolConfig, Pools
from backend.generation.run.active import LiveGeneration
from backend.generation.stream.follower import Follower
from backend.generation.stream.leases import Leases
from backend.generation.stream.writer import BufferWriter
from backend.platform.errors import ModelNotFound


@dataclass(slots=True)
class Process:
    """Built by runtime.py; passed to whoever needs it, never global.

    Attributes:
        live: the generations that run here.
        queues: by pool id.
        draining: the process is going: nothing new, and readers are sent elsewhere.
    """

    id: str
    redis: Redis
    pools: Pools
    client: UpstreamClient
    leases: Leases
    limiter: Limiter
    writer: BufferWriter
    follower: Follower
    queues: dict[str, AdmissionQueue]
    live: dict[UUID, LiveGeneration] = field(default_factory=dict)
    draining: bool = False

    def pool_of(self, model_id: str) -> PoolConfig | None:
        """The pool with exactly this id; None when the pools file has lost it meanwhile."""
        try:
            return self.pools.find(model_id)
        except ModelNotFound:
            return None
