"""Commands that share a connection are answered as if each had been alone."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from backend.platform.redis_batch import Batch

pytestmark = pytest.mark.usefixtures("services")

TOGETHER = 600


@pytest.fixture
async def redis() -> AsyncIterator[Redis]:
    client = Redis.from_url(os.environ["REDIS_URL"], protocol=2, socket_timeout=5)
    yield client
    await client.aclose()


@pytest.fixture
async def batch(redis: Redis) -> Batch:
    return Batch(redis)


async def connection_of(batch: Batch) -> int:
    return int(await batch.execute("CLIENT", "ID"))


async def test_each_caller_gets_its_own_answer_over_one_connection(batch: Batch) -> None:
    connection = await connection_of(batch)
    answers = await asyncio.gather(
        *(batch.execute("ECHO", f"answer {n}") for n in range(TOGETHER)),
        batch.execute("LPUSH", "redis-batch", "x"),
        return_exceptions=True,
    )
    assert answers[:TOGETHER] == [b"answer %d" % n for n in range(TOGETHER)]
    assert isinstance(answers[TOGETHER], int)
    assert await connection_of(batch) == connection


async def test_later_command_does_not_wait_for_an_earlier_answer(batch: Batch) -> None:
    """Redis gets it at once: it is what ends the wait of the first."""
    popping = asyncio.ensure_future(batch.execute("BLPOP", "redis-batch:later", "5"))
    await asyncio.sleep(0.05)
    other = Redis.from_url(os.environ["REDIS_URL"], protocol=2)
    echoing = asyncio.ensure_future(batch.execute("ECHO", "after"))
    await other.lpush("redis-batch:later", "x")
    assert await popping == [b"redis-batch:later", b"x"]
    assert await echoing == b"after"
    await other.aclose()


async def test_command_that_is_asked_as_the_last_answer_comes_is_answered(batch: Batch) -> None:
    way: Any = batch._way
    loop = asyncio.get_running_loop()
    first, second = loop.create_future(), loop.create_future()
    first.add_done_callback(lambda _: way.ask(("ECHO", "second"), second))
    way.ask(("ECHO", "first"), first)
    assert await first == b"first"
    assert await asyncio.wait_for(second, 5) == b"second"


async def test_commands_that_go_together_are_answered_in_order(batch: Batch) -> None:
    assert await batch.execute_all(("SET", "redis-batch:n", 1), ("INCR", "redis-batch:n")) == [
        b"OK",
        2,
    ]
    with pytest.raises(ResponseError):
        await batch.execute_all(("LPUSH", "redis-batch:n", "x"), ("INCR", "redis-batch:n"))
    assert await batch.execute("GET", "redis-batch:n") == b"3"


async def test_connection_closed_while_idle_is_replaced(redis: Redis, batch: Batch) -> None:
    killed = await connection_of(batch)
    await redis.execute_command("CLIENT", "KILL", "ID", killed)
    assert await batch.execute("ECHO", "again") == b"again"
    assert await connection_of(batch) != killed


async def test_connection_that_breaks_fails_all_that_wait_and_no_other(
    redis: Redis, batch: Batch
) -> None:
    killed = await connection_of(batch)
    waiting = [
        asyncio.ensure_future(batch.execute("BLPOP", "redis-batch:nothing", "30")),
        asyncio.ensure_future(batch.execute("ECHO", "behind it")),
    ]
    await asyncio.sleep(0.05)
    await redis.execute_command("CLIENT", "KILL", "ID", killed)
    failed = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(error, (RedisError, OSError)) for error in failed)
    assert await batch.execute("ECHO", "next") == b"next"


async def test_answer_that_is_late_fails_all_that_wait_and_no_other() -> None:
    client = Redis.from_url(os.environ["REDIS_URL"], protocol=2, socket_timeout=0.5)
    batch = Batch(client)
    failed = await asyncio.gather(
        batch.execute("BLPOP", "redis-batch:nothing", "30"),
        batch.execute("ECHO", "behind it"),
        return_exceptions=True,
    )
    assert all(isinstance(error, RedisError) for error in failed)
    assert await batch.execute("ECHO", "next") == b"next"
    await client.aclose()


async def test_argument_that_is_none_fails_alone(batch: Batch) -> None:
    answers = await asyncio.gather(
        batch.execute("ECHO", object()), batch.execute("ECHO", "fine"), return_exceptions=True
    )
    assert isinstance(answers[0], TypeError)
    assert answers[1] == b"fine"


async def test_command_that_fails_fails_alone(batch: Batch) -> None:
    await batch.execute("SET", "redis-batch:text", "x")
    commands = ("INCR", "GET")
    answers = await asyncio.gather(
        *(batch.execute(command, "redis-batch:text") for command in commands),
        return_exceptions=True,
    )
    assert isinstance(answers[0], ResponseError)
    assert answers[1] == b"x"


async def test_script_is_sent_again_when_redis_has_forgotten_it(redis: Redis) -> None:
    add = Batch(redis).script("return ARGV[1] + ARGV[2]")
    assert await add(keys=[], args=[1, 2]) == 3
    await redis.script_flush()
    assert await asyncio.gather(*(add(keys=[], args=[n, 1]) for n in range(3))) == [1, 2, 3]


async def test_caller_that_leaves_takes_no_answer_of_others(redis: Redis) -> None:
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
