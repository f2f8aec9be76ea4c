"""The buffer writer keeps Redis up with its logs, whatever fails in between."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast
from uuid import uuid4

from redis.asyncio import Redis
from structlog.testing import capture_logs

from backend.generation.gateway import end_tasks
from backend.generation.stream import keys
from backend.generation.stream.log import EventLog
from backend.generation.stream.writer import BufferWriter
from backend.generation.supervision import supervised

TIMEOUT_S = 10.0
LEASE = "1:test"


class GarblingRedis(Redis):
    """The real one; the replies of its next `garbled` scripts are lost to an unknown error."""

    garbled = 0

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        reply = await super().execute_command(*args, **options)
        if args[0] == "EVALSHA" and self.garbled:
            self.garbled -= 1
            raise ValueError("a reply that the client cannot decode")
        return reply


@asynccontextmanager
async def _redis() -> AsyncIterator[GarblingRedis]:
    client = cast(GarblingRedis, GarblingRedis.from_url(os.environ["REDIS_URL"], protocol=2))
    try:
        yield client
    finally:
        await client.aclose()


@asynccontextmanager
async def _running(writer: BufferWriter) -> AsyncIterator[None]:
    task = asyncio.create_task(supervised("writer", writer.shards[0].run))
    try:
        yield
    finally:
        await end_tasks([task])


async def test_events_reach_redis_after_unexpected_exception() -> None:
    async def on_missing(_: EventLog) -> None:
        raise AssertionError("the lease is there")

    async with _redis() as redis:
        writer = BufferWriter(redis, on_missing=on_missing, ttl_ms=60_000)
        log = EventLog(uuid4(), LEASE)
        await redis.set(keys.lease(log.generation_id), LEASE)
        redis.garbled = 1
        async with _running(writer):
            log.append(b"one", b"")
            writer.mark(log)
            await asyncio.wait_for(log.wait_stored(1), TIMEOUT_S)

        assert await redis.xlen(keys.events(log.generation_id)) == 1


async def test_failed_restoring_of_lease_is_logged_and_repeated() -> None:
    attempts = 0

    async def on_missing(log: EventLog) -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise ValueError("a row that the client cannot decode")
        await redis.set(keys.lease(log.generation_id), LEASE)

    async with _redis() as redis:
        writer = BufferWriter(redis, on_missing=on_missing, ttl_ms=60_000)
        log = EventLog(uuid4(), LEASE)
        async with _running(writer):
            log.append(b"one", b"")
            with capture_logs() as logs:
                writer.mark(log)
                await asyncio.wait_for(log.wait_stored(1), TIMEOUT_S)

    assert attempts == 2
    assert [entry["log_level"] for entry in logs if entry["event"] == "lease_not_restored"] == [
        "error"
    ]
