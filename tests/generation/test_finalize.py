"""The end of a generation when it is not this process's to write, or cannot be written as it is."""

import asyncio

import pytest

from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.records import generation_claim
from backend.generation.request import Event, StartedGeneration
from backend.generation.service import generation_start
from backend.generation.stream import keys
from backend.generation.stream.reader import read_events
from backend.platform.database import in_database
from backend.platform.errors import NotFound
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    Answer,
    caller,
    chat,
    check_billed,
    pools_of,
    running_gateway,
)

PATIENCE_S = 30.0


async def test_readers_follow_when_process_finds_itself_superseded_at_the_end(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """It stalled past its lease, another process has claimed the generation, and it has all
    events stored and no heartbeat due: only the terminal transaction tells it."""
    upstream.behaviour.rate = 60.0
    principal = await caller()
    pools = pools_of(upstream)
    async with running_gateway(pools), running_gateway(pools, lease_s=60.0) as stalled:
        started = await generation_start(chat(principal, max_tokens=30, metadata={}))
        reading = asyncio.create_task(_read_at(stalled, started))
        await in_database(generation_claim, generation_id=started.id)
        task = stalled.process.live[started.id].task
        assert task is not None
        await task
        # As if its lease had lapsed: the other process takes the generation up.
        await stalled.process.redis.zadd(keys.LEASES, {str(started.id): 0})
        answer = await asyncio.wait_for(reading, PATIENCE_S)

    answer.check_order()
    assert answer.text == words(0, 30)
    row = await check_billed(started.id, output_tokens=30, state="completed")
    assert row.epoch == 3


async def test_readers_end_when_row_is_gone_at_the_end(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """Its organization was deleted meanwhile."""
    upstream.behaviour.rate = 60.0
    principal = await caller()
    async with running_gateway(pools_of(upstream)) as gateway:
        started = await generation_start(chat(principal, max_tokens=20, metadata={}))
        reading = asyncio.create_task(_read_at(gateway, started))
        await in_database(Generation.objects.filter(pk=started.id).delete)
        with pytest.raises(NotFound):
            await asyncio.wait_for(reading, PATIENCE_S)


async def _read_at(gateway: Gateway, started: StartedGeneration) -> Answer:
    events: list[Event] = []
    async for batch in read_events(gateway.process, started.id, after=0):
        events += batch
    return Answer(events)
