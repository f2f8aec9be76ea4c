"""The end of a generation when it is not this process's to write, or cannot be written as it is."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import InternalError, OperationalError
from redis.exceptions import TimeoutError as RedisTimeout

from backend.accounts.principal import Principal
from backend.generation.finish import finalize
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.records import Finished, generation_claim, generation_finish
from backend.generation.request import DONE, Event, StartedGeneration
from backend.generation.stream import keys
from backend.generation.stream.log import Entry, EventLog
from backend.platform.database import in_database
from backend.platform.errors import NotFound
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    HELD,
    TURN,
    Answer,
    ask,
    caller,
    chat,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    running_gateway,
    start,
    until_ended,
)

TIMEOUT_S = 30.0
StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]
MAX_STORABLE = 2**31 - 1


async def test_readers_follow_the_successor_when_process_was_superseded_at_the_end(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """It stalled past its lease, another process has claimed the generation, and it has all
    events stored and no heartbeat due: only the terminal transaction tells it."""
    upstream.behaviour.rate, upstream.behaviour.hang_after = 60.0, HELD
    principal = await caller()
    pools = pools_of(upstream)
    async with running_gateway(pools), running_gateway(pools, lease_s=60.0) as stalled:
        started = await start(chat(principal, max_tokens=30, turn=TURN))
        reading = asyncio.create_task(_read_at(stalled, started))
        await in_database(generation_claim, generation_id=started.id)
        upstream.behaviour.hang_after = None
        active = stalled.active.get(started.id)
        assert active is not None and active.task is not None
        await active.task
        # As if its lease had lapsed: the other process takes the generation up.
        await stalled.redis.zadd(keys.leases(keys.shard_of(started.id)), {str(started.id): 0})
        answer = await asyncio.wait_for(reading, TIMEOUT_S)

    answer.check_order()
    assert answer.text == words(0, 30)
    row = await check_billed(started.id, output_tokens=30, state="completed")
    assert row.epoch == 3


async def test_readers_end_when_row_is_gone_at_the_end(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """Its organization was deleted meanwhile."""
    upstream.behaviour.rate, upstream.behaviour.hang_after = 60.0, HELD
    principal = await caller()
    async with running_gateway(pools_of(upstream)) as gateway:
        started = await start(chat(principal, max_tokens=30, turn=TURN))
        reading = asyncio.create_task(_read_at(gateway, started))
        await in_database(Generation.objects.filter(pk=started.id).delete)
        upstream.behaviour.hang_after = None
        with pytest.raises(NotFound):
            await asyncio.wait_for(reading, TIMEOUT_S)


async def test_generation_ends_as_failed_when_its_numbers_cannot_be_stored(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    """Each choice's count fits the column, their sum does not: no retry would change that."""
    principal = await caller()
    upstream = await start_upstream(count_error=MAX_STORABLE - 100)
    pools = pools_of(upstream)
    async with running_gateway(pools):
        request = chat(principal, max_tokens=20, n=2)
        started, answer = await asyncio.wait_for(ask(request), TIMEOUT_S)

    answer.check_order()
    assert answer.error is not None and answer.error["code"] == "record_rejected"
    [pool] = pools.models
    row = await check_billed(started.id, output_tokens=2 * pool.max_output_tokens, state="failed")
    assert row.error_code == "record_rejected"
    assert row.input_tokens == pool.context_window


@pytest.mark.parametrize("count", [MAX_STORABLE + 1, 2**40, -10])
async def test_impossible_count_is_failure_of_upstream(
    transactional_db: None, start_upstream: StartUpstream, count: int
) -> None:
    principal = await caller()
    upstream = await start_upstream(count_error=count)
    async with running_gateway(pools_of(upstream, dialect="openai")):
        request = chat(principal, max_tokens=20)
        started, answer = await asyncio.wait_for(ask(request), TIMEOUT_S)

    answer.check_order()
    assert answer.text == words(0, 20)
    assert answer.error is not None and answer.error["code"] == "upstream_failed"
    await check_billed(started.id, output_tokens=20, state="failed")


async def test_generation_waits_for_database_that_is_away(
    gateway: Gateway, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = iter([OperationalError("the connection is closed"), InternalError("read-only")])

    def finish(**arguments: Any) -> Finished:
        for error in away:
            raise error
        return generation_finish(**arguments)

    monkeypatch.setattr(finalize, "generation_finish", finish)
    started, answer = await asyncio.wait_for(ask(chat(principal, max_tokens=5)), TIMEOUT_S)

    assert answer.text == words(0, 5)
    await check_billed(started.id, output_tokens=5, state="completed")


async def test_end_is_written_by_another_when_the_log_is_lost_while_it_is_stored(
    gateway: Gateway, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process stood still, its lease lapsed, and it gave the log up though it has the lease."""
    loop = asyncio.get_running_loop()

    def finish(**arguments: Any) -> Finished:
        finished = generation_finish(**arguments)
        active = gateway.active.get(arguments["generation_id"])
        assert active is not None
        loop.call_soon_threadsafe(active.log.lose)
        return finished

    monkeypatch.setattr(finalize, "generation_finish", finish)
    started, answer = await asyncio.wait_for(ask(chat(principal, max_tokens=5)), TIMEOUT_S)

    answer.check_order()
    assert answer.text == words(0, 5)
    assert answer.finish_reason == "length"
    await check_billed(started.id, output_tokens=5, state="completed")


async def test_withdrawn_text_is_replaced_in_redis_when_its_appends_had_arrived(
    transactional_db: None, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis has applied what the process appended, and its replies were lost for too long: the
    text after the last reply is neither stored nor billed, and the stream must say the same."""
    monkeypatch.setattr(finalize, "STORE_TIMEOUT_S", 1.0)
    monkeypatch.setattr(finalize, "BUFFER_TIMEOUT_S", 1.0)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    principal = await caller()
    pools = pools_of(upstream)
    async with running_gateway(pools) as elsewhere, running_gateway(pools) as gateway:
        replies = _lossy_replies(gateway, monkeypatch)
        started = await start(chat(principal, max_tokens=40, turn=TURN))
        local = asyncio.create_task(_read_at(gateway, started))
        remote = asyncio.create_task(_read_at(elsewhere, started))
        while _log(gateway, started).shown < 5:
            await asyncio.sleep(0.01)
        replies.lost = True
        upstream.behaviour.hang_after = None
        row = await until_ended(started.id)
        replies.lost = False
        answer = await asyncio.wait_for(local, TIMEOUT_S)
        ahead = await asyncio.wait_for(remote, TIMEOUT_S)
        late = await asyncio.wait_for(_read_at(elsewhere, started), TIMEOUT_S)
        leased = await gateway.redis.zscore(keys.leases(keys.shard_of(started.id)), str(started.id))

    answer.check_order()
    assert answer.error is not None and answer.error["code"] == "buffer_lost"
    assert 0 < row.output_tokens < 40
    assert answer.text == words(0, row.output_tokens), "what its own readers saw"
    await check_billed(started.id, output_tokens=row.output_tokens, state="failed")
    assert late.events == answer.events
    assert leased is None, "no process fails it over"
    ahead.check_order()
    assert ahead.text == words(0, 40), "seen before it was withdrawn"
    assert ahead.error is not None and ahead.error["code"] == "buffer_lost"


async def test_withdrawn_text_is_replaced_by_the_successor_of_a_dead_process(
    transactional_db: None, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It died between the transaction and the end of its stream."""
    monkeypatch.setattr(finalize, "STORE_TIMEOUT_S", 1.0)
    monkeypatch.setattr(finalize, "BUFFER_TIMEOUT_S", 1.0)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    principal = await caller()
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    replies = _lossy_replies(first, monkeypatch)

    async def never(*_: Any) -> bool:
        raise RedisTimeout("no reply")

    monkeypatch.setattr(first.leases, "end_with", never)
    started = await start(chat(principal, max_tokens=40, turn=TURN))
    while _log(first, started).shown < 5:
        await asyncio.sleep(0.01)
    replies.lost = True
    upstream.behaviour.hang_after = None
    row = await until_ended(started.id)
    await kill_gateway(first)
    assert 0 < row.output_tokens < 40

    async with running_gateway(pools) as second:
        while (
            await second.redis.zscore(keys.leases(keys.shard_of(started.id)), str(started.id))
            is not None
        ):
            await asyncio.sleep(0.05)
        late = await asyncio.wait_for(_read_at(second, started), TIMEOUT_S)
    late.check_order()
    assert late.text == words(0, row.output_tokens), "what is billed"
    assert late.error is not None and late.error["code"] == "buffer_lost"
    await check_billed(started.id, output_tokens=row.output_tokens, state="failed")


async def test_answer_is_whole_when_redis_is_silent_at_its_end_and_comes_back(
    transactional_db: None, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Redis that is killed for its silence is back after more than ten seconds."""
    monkeypatch.setattr(finalize, "BUFFER_TIMEOUT_S", 0.5)
    upstream.behaviour.rate = 200.0
    principal = await caller()
    async with running_gateway(pools_of(upstream)) as gateway:
        replies = _lossy_replies(gateway, monkeypatch)
        started = await start(chat(principal, max_tokens=20, turn=TURN))
        reading = asyncio.create_task(_read_at(gateway, started))
        while _log(gateway, started).shown < 5:
            await asyncio.sleep(0.01)
        replies.lost = True
        while not upstream.served[0].finished:
            await asyncio.sleep(0.01)
        await asyncio.sleep(2.0)
        replies.lost = False
        answer = await asyncio.wait_for(reading, TIMEOUT_S)

    answer.check_order()
    assert answer.text == words(0, 20)
    await check_billed(started.id, output_tokens=20, state="completed")


async def test_stream_of_another_holder_is_not_replaced(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    upstream.behaviour.rate = 20.0
    started = await start(chat(principal, max_tokens=100, turn=TURN))
    await _log(gateway, started).wait_stored(2)
    leases = gateway.leases

    assert not await leases.end_with(started.id, "7:another", [Entry(DONE, b"")])
    entries = await leases.entries(started.id)
    assert len(entries) >= 2 and entries[-1].data != DONE


def _log(gateway: Gateway, started: StartedGeneration) -> EventLog:
    active = gateway.active.get(started.id)
    assert active is not None
    return active.log


@dataclass
class _Replies:
    lost: bool = False


def _lossy_replies(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> _Replies:
    """From now on the replies to the writer's appends can be lost: Redis has applied them."""
    replies = _Replies()
    (shard,) = gateway.writer.shards
    append = shard._append

    async def lossy(*args: Any, **options: Any) -> Any:
        result = await append(*args, **options)
        if replies.lost:
            raise RedisTimeout("no reply")
        return result

    monkeypatch.setattr(shard, "_append", lossy)
    return replies


async def _read_at(gateway: Gateway, started: StartedGeneration) -> Answer:
    events: list[Event] = []
    async for batch in gateway.reader.events(started.id, after=0):
        events += batch
    return Answer(events)
