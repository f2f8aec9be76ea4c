"""How full a pool's queue is: read from Redis, where all web processes share it (decision 0242).

The keys are those of `backend/generation/admission/shared_queue.py`, of which this reads only
counts: a Redis user for it needs `~queue:* +zcard +zrangebyscore +llen +lindex +time`. What runs is
asked of the engines: there a process' part of the free places counts as taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from redis import Redis

_TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class QueueReading:
    """Of one pool: requests that wait, and the seconds until the last of these probably has its
    place, 0 where that is not known."""

    waiting: int
    wait_s: float

    def as_stats(self, running: int) -> dict[str, float]:
        """What a replica reports whose engine has so many requests."""
        return {"running": running, "waiting": self.waiting, "wait_s": self.wait_s}


def queue_client(url: str) -> Redis:
    return Redis.from_url(url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)


def read_queue(redis: Redis, pool: str) -> QueueReading | None:
    """The queue of `pool` now; None where no web process lives that could know it.

    Raises RedisError, OSError.
    """

    def key(name: str) -> str:
        return f"queue:{{{pool}}}:{name}"

    pipeline: Any = redis.pipeline(transaction=False)
    pipeline.time()
    pipeline.zrangebyscore(key("processes"), "-inf", "+inf", withscores=True)
    pipeline.zcard(key("waiting"))
    pipeline.llen(key("served"))
    pipeline.lindex(key("served"), -1)
    (seconds, _), processes, waiting, served, oldest = pipeline.execute()
    if not any(until > seconds for _, until in processes):
        return None
    wait_s = 0.0
    if waiting and served > 1:
        wait_s = waiting * max(1.0, seconds - float(oldest)) / served
    return QueueReading(int(waiting), round(wait_s, 1))
