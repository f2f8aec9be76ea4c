"""The buffer writer keeps Redis up with its logs, whatever fails in between."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from backend.generation.stream import keys
from backend.generation.stream import writer as writer_module
from backend.generation.stream.log import EventLog
from backend.generation.stream.writer import BufferWriter, ShardWriter
from backend.generation.supervision import supervised
from backend.platform.cancellation import end_tasks

pytestmark = pytest.mark.usefixtures("services")

TIMEOUT_S = 10.0
LEASE = "1:test"


@asynccontextmanager
async def _redis() -> AsyncIterator[Redis]:
    client = Redis.from_url(os.environ["REDIS_URL"], protocol=2)
    try:
        yield client
    finally:
        await client.aclose()


def _garble(shard: ShardWriter, rounds: int) -> Callable[[], int]:
    """Lose the replies of its next rounds to an unknown error; how many are still to be lost."""
    append, left = shard._append, rounds

    async def garbled(**options: Any) -> list[int]:
        nonlocal left
        reply = await append(**options)
        if left:
            left -= 1
            raise ValueError("a reply that the client cannot decode")
        return reply

    shard._append = garbled
    return lambda: left


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
        left = _garble(writer.shards[0], 1)
        async with _running(writer):
            log.append(b"one", b"")
            writer.mark(log)
            await asyncio.wait_for(log.wait_stored(1), TIMEOUT_S)

        assert left() == 0
        assert await redis.xlen(keys.events(log.generation_id)) == 1


async def test_first_text_of_an_answer_does_not_wait_for_the_pause(monkeypatch: Any) -> None:
    """A pause that would outlast the test: only what ends it lets the text through."""

    async def on_missing(_: EventLog) -> None:
        raise AssertionError("the lease is there")

    for pause in ("_PAUSE_A_LOG_S", "_MAX_PAUSE_S"):
        monkeypatch.setattr(writer_module, pause, 10 * TIMEOUT_S)
    async with _redis() as redis:
        writer = BufferWriter(redis, on_missing=on_missing, ttl_ms=60_000)
        log = EventLog(uuid4(), LEASE)
        await redis.set(keys.lease(log.generation_id), LEASE)
        async with _running(writer):
            for number, event in enumerate((b"begins", b"first text"), start=1):
                log.append(event, b"")
                writer.mark(log)
                await asyncio.wait_for(log.wait_stored(number), TIMEOUT_S)


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
