"""Which generation answers the requests of a digest at this moment, for all web processes.

A key in Redis names it. That it still runs is not the key's to say: who joins asks for its row, and
takes the key over from one that has ended or died.
"""

from uuid import UUID

from redis.asyncio import Redis

from backend.platform.redis_batch import Batch

# KEYS: the flight. ARGV: who asks, its lifetime in ms, a generation that has left ("" for none).
# Returns who leads: the one that was there, or the one that asks.
_JOIN = """
local there = redis.call('GET', KEYS[1])
if there and there ~= ARGV[3] then return there end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
"""
# KEYS: the flight. ARGV: who leaves it.
_LEAVE = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class Flights:
    """Raises RedisError, OSError where Redis is away."""

    def __init__(self, redis: Redis) -> None:
        batch = Batch(redis)
        self._join = batch.script(_JOIN)
        self._leave = batch.script(_LEAVE)

    async def join(
        self, name: str, generation_id: UUID, *, ttl_ms: int, left: UUID | None = None
    ) -> UUID:
        """Who leads: another generation, or `generation_id` from now on.

        Args:
            left: was found to have ended; it is not followed again.
        """
        gone = "" if left is None else str(left)
        leader = await self._join(keys=[name], args=[str(generation_id), ttl_ms, gone])
        return UUID(leader.decode() if isinstance(leader, bytes) else leader)

    async def leave(self, name: str, generation_id: UUID) -> None:
        """Nobody follows `generation_id` from now on who does not already."""
        await self._leave(keys=[name], args=[str(generation_id)])
