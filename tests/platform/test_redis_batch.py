"""Commands that go out together are answered as if each had been alone."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from backend.platform.redis_batch import Batch

TOGETHER = 600


class Counting(Redis):
    """The real one; counts what is sent alone and what in pipelines."""

    trips = 0

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        self.trips += 1
        return await super().execute_command(*args, **options)

    def pipeline(self, *args: Any, **options: Any) -> Any:
        self.trips += 1
        return super().pipeline(*args, **options)


@pytest.fixture
async def redis() -> AsyncIterator[Counting]:
    client = cast(Counting, Counting.from_url(os.environ["REDIS_URL"], protocol=2))
    yield client
    await client.aclose()


async def test_each_caller_gets_its_own_answer_in_few_round_trips(redis: Counting) -> None:
    batch = Batch(redis)
    answers = await asyncio.gather(
        *(batch.execute("ECHO", f"answer {n}") for n in range(TOGETHER)),
        batch.execute("LPUSH", "redis-batch", "x"),
        return_exceptions=True,
    )
    assert answers[:TOGETHER] == [b"answer %d" % n for n in range(TOGETHER)]
    assert redis.trips <= 4


async def test_command_that_fails_fails_alone(redis: Counting) -> None:
    batch = Batch(redis)
    await batch.execute("SET", "redis-batch:text", "x")
    commands = ("INCR", "GET")
    answers = await asyncio.gather(
        *(batch.execute(command, "redis-batch:text") for command in commands),
        return_exceptions=True,
    )
    assert isinstance(answers[0], ResponseError)
    assert answers[1] == b"x"


async def test_script_is_sent_again_when_redis_has_forgotten_it(redis: Counting) -> None:
    add = Batch(redis).script("return ARGV[1] + ARGV[2]")
    assert await add(keys=[], args=[1, 2]) == 3
    await redis.script_flush()
    assert await asyncio.gather(*(add(keys=[], args=[n, 1]) for n in range(3))) == [1, 2, 3]


async def test_caller_that_leaves_takes_no_answer_of_others(redis: Counting) -> None:
    batch = Batch(redis)
    first = asyncio.ensure_future(batch.execute("ECHO", "first"))
    left = asyncio.ensure_future(batch.execute("ECHO", "left"))
    last = asyncio.ensure_future(batch.execute("ECHO", "last"))
    await asyncio.sleep(0)
    left.cancel()
    assert await asyncio.gather(first, last) == [b"first", b"last"]


async def test_connection_that_is_refused_fails_all_and_the_next_is_tried_again() -> None:
    client = Redis.from_url("redis://127.0.0.1:1/0", protocol=2)
    batch = Batch(client)
    for _ in range(2):
        found = await asyncio.gather(
            batch.execute("PING"), batch.execute("PING"), return_exceptions=True
        )
        assert all(isinstance(error, (RedisError, OSError)) for error in found)
    await client.aclose()
