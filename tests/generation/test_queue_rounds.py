"""The loop over the shared queues ends when its process does."""

import asyncio
from typing import cast

from redis.asyncio import Redis
from redis.exceptions import TimeoutError as RedisTimeoutError

from backend.generation.admission.shared_queue import QueueRounds, SharedQueue
from backend.platform.cancellation import end_tasks
from tests.generation.admission_queue import replica_set


class SlowRedis:
    """Answers nothing; of a cancellation it makes a timeout, once, as redis-py may."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.swallowed = 0

    async def eval(self, *_: object) -> None:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            self.swallowed += 1
            if self.swallowed == 1:
                raise RedisTimeoutError("no answer") from error
            raise


async def test_rounds_end_where_redis_swallows_a_cancellation() -> None:
    redis = SlowRedis()
    queue = SharedQueue(replica_set(1, 1), max_waiting=100)
    rounds = asyncio.create_task(QueueRounds(cast(Redis, redis), "one", {"pool": queue}).run())
    await redis.asked.wait()
    async with asyncio.timeout(20):
        await end_tasks([rounds])
    assert rounds.cancelled()
    assert redis.swallowed >= 1
