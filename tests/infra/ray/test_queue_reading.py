"""Ray reads the product's own queue: its rounds write, this reads."""

from collections.abc import AsyncIterator

import pytest
from django.conf import settings
from redis import Redis

from backend.generation.admission.shared_queue import Demand, SharedQueue, keys_of
from backend.platform.redis import async_client
from infra.ray.queue_reading import QueueReading, queue_client, read_queue
from tests.factories import MODEL
from tests.generation.admission_queue import replica_set


@pytest.fixture
async def redis(services: None) -> AsyncIterator[Redis]:
    client = queue_client(settings.REDIS_URL)
    yield client
    client.delete(*keys_of(MODEL))
    client.close()


async def round_of(queue: SharedQueue, process: str = "one") -> None:
    await queue.round(async_client(), process)


async def test_requests_waiting_in_all_web_processes_are_read(redis: Redis) -> None:
    queues = {name: SharedQueue(replica_set(1, 2), max_waiting=100) for name in ("one", "two")}
    tickets = []
    for number, queue in enumerate(queues.values()):
        for count in range(3):
            ticket = queue.reserve(priority=0, weight=1, affinity=None)
            queue.describe(ticket, Demand(f"ticket-{number}-{count}"))
            queue.enter(ticket)
            tickets.append(ticket)
    for name, queue in [*queues.items()] * 3:
        await round_of(queue, name)
    assert read_queue(redis, MODEL) == QueueReading(waiting=4, wait_s=0.0)

    for ticket in tickets:
        if ticket.replica is not None:
            ticket.release()
    for name, queue in [*queues.items()] * 3:
        await round_of(queue, name)
    reading = read_queue(redis, MODEL)
    assert reading is not None
    assert reading.waiting == 2
    assert reading.wait_s > 0, "two were served, so the pace is known"
    for ticket in tickets:
        ticket.release()


async def test_queue_is_not_known_while_no_web_process_lives(redis: Redis) -> None:
    assert read_queue(redis, MODEL) is None
    await round_of(SharedQueue(replica_set(1, 2), max_waiting=100))
    assert read_queue(redis, MODEL) == QueueReading(0, 0.0)
    redis.zadd(keys_of(MODEL)[2], {"one": 1.0})  # the process' time is over
    assert read_queue(redis, MODEL) is None
