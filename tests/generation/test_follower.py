"""Readers of a generation that another process runs: each gets every event once, in order,
whatever place the others read from."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import pytest
from redis.asyncio import Redis

from backend.accounts.principal import Principal
from backend.generation.gateway import Gateway
from backend.generation.request import Event
from backend.generation.stream import keys, reader
from backend.generation.stream.follower import Follower, Subscription
from backend.platform.cancellation import end_tasks
from infra.load.upstream import SyntheticUpstream, words
from infra.services.ports import free_port
from tests.support.gateway import (
    TURN,
    Answer,
    ask,
    caller,
    chat,
    pools_of,
    running_gateway,
    start,
    until_ended,
)
from tests.support.tcp_proxy import TcpProxy

TIMEOUT_S = 20.0
_BEYOND = 1_000_000_000


class SlowRedis(Redis):
    """The real one, over a connection on which the commands in `held` wait for `release`:
    their requests, or their replies."""

    held: tuple[str, ...] = ()
    hold_reply = False
    release: asyncio.Event

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        waits = args[0] in self.held
        if waits and not self.hold_reply:
            await self.release.wait()
        reply = await super().execute_command(*args, **options)
        if waits and self.hold_reply:
            await self.release.wait()
        return reply


@asynccontextmanager
async def _following() -> AsyncIterator[tuple[Follower, SlowRedis]]:
    """A running follower, and its client."""
    client = cast(SlowRedis, SlowRedis.from_url(os.environ["REDIS_URL"], protocol=2))
    client.release = asyncio.Event()
    follower = Follower(client, f"test-{uuid4()}", lambda _: None)
    task = asyncio.create_task(follower.shards[0].run())
    try:
        yield follower, client
    finally:
        await end_tasks([task])
        await client.aclose()


async def _append(client: Redis, generation_id: UUID, *seqs: int) -> None:
    for seq in seqs:
        await Redis.xadd(
            client, keys.events(generation_id), {"d": b"%d" % seq, "m": b""}, id=f"{seq}-0"
        )


async def _take(subscription: Subscription, upto: int) -> list[int]:
    """The seqs that come until `upto`, or until nothing has come for a while."""
    seqs: list[int] = []
    while not seqs or seqs[-1] < upto:
        batch = await subscription.next_batch(2.0)
        if not batch:
            break
        seqs += [event.seq for event in batch]
    return seqs


@pytest.mark.parametrize("hold_reply", [False, True])
async def test_second_reader_gets_old_events_when_new_ones_come_while_it_subscribes(
    hold_reply: bool,
) -> None:
    generation_id = uuid4()
    async with _following() as (follower, client):
        await _append(client, generation_id, 1, 2, 3, 4, 5)
        async with follower.subscribe(generation_id, 0) as first:
            assert await _take(first, 5) == [1, 2, 3, 4, 5]
            client.held, client.hold_reply = ("XRANGE", "XADD"), hold_reply

            async def read_second() -> list[int]:
                async with follower.subscribe(generation_id, 0) as second:
                    return await _take(second, 7)

            reading = asyncio.create_task(read_second())
            await asyncio.sleep(0.1)
            client.held = ()
            await _append(client, generation_id, 6)
            first_had = await _take(first, 6)
            client.release.set()
            await _append(client, generation_id, 7)
            first_had += await _take(first, 7)

            assert await reading == [1, 2, 3, 4, 5, 6, 7]
            assert first_had == [6, 7]


async def test_reader_gets_all_events_when_another_began_beyond_the_last_one() -> None:
    generation_id = uuid4()
    async with _following() as (follower, client):
        await _append(client, generation_id, 1, 2)
        async with (
            follower.subscribe(generation_id, _BEYOND) as beyond,
            follower.subscribe(generation_id, 0) as other,
            follower.subscribe(generation_id, 2) as third,
        ):
            assert await _take(other, 2) == [1, 2]
            await _append(client, generation_id, 3)
            assert await _take(other, 3) == [3]
            assert await _take(third, 3) == [3]
            assert await beyond.next_batch(0.1) == []


async def test_readers_of_another_process_end_when_one_began_beyond_the_last_event(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    upstream.behaviour.rate = 40.0
    principal = await caller()
    pools = pools_of(upstream)
    async with running_gateway(pools) as elsewhere, running_gateway(pools):
        started = await start(chat(principal, max_tokens=40, turn=TURN))
        assert started.id not in elsewhere.active
        beyond = asyncio.create_task(_read_at(elsewhere, started.id, after=_BEYOND))
        await asyncio.sleep(0.3)
        whole = asyncio.create_task(_read_at(elsewhere, started.id, after=0))
        await asyncio.sleep(0.3)
        rest = asyncio.create_task(_read_at(elsewhere, started.id, after=3))
        async with asyncio.timeout(TIMEOUT_S):
            answer = await whole
            assert (await rest).events == answer.events[3:]
            assert (await beyond).events == []

    answer.check_order()
    assert answer.text == words(0, 40)


async def test_reader_who_comes_while_redis_is_away_has_the_whole_answer_when_it_is_back(
    transactional_db: None,
    upstream: SyntheticUpstream,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Away from the process that is read from only, also while the generation ends."""
    monkeypatch.setattr(reader, "_IDLE_S", 0.1)
    principal, pools = await caller(), pools_of(upstream)
    address = urlsplit(os.environ["REDIS_URL"])
    assert address.port is not None
    with closing(TcpProxy(address.port)) as proxy:
        through = address._replace(
            netloc=address.netloc.replace(f":{address.port}", f":{proxy.port}")
        )
        settings.STREAM_REDIS_URL = urlunsplit(through)
        async with running_gateway(pools) as elsewhere:
            settings.STREAM_REDIS_URL = os.environ["REDIS_URL"]
            async with running_gateway(pools):
                started = await start(chat(principal, max_tokens=20, turn=TURN))
                proxy.lead_to(free_port())
                proxy.cut()
                reading = asyncio.create_task(_read_at(elsewhere, started.id, after=0))
                await until_ended(started.id)
                await asyncio.sleep(0.5)
                assert not reading.done()
                proxy.lead_to(address.port)
                answer = await asyncio.wait_for(reading, TIMEOUT_S)

    answer.check_order()
    assert answer.text == words(0, 20)


async def test_reader_gets_the_end_that_is_written_while_it_asks_for_it(
    gateway: Gateway, principal: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process has ended the generation in PostgreSQL, and writes its last event at the
    moment at which a reader asks whether there will be any."""
    started, whole = await ask(chat(principal, max_tokens=3))
    await until_ended(started.id)
    while started.id in gateway.active:
        await asyncio.sleep(0.01)
    name, redis = keys.events(started.id), gateway.redis
    entries = cast(list[Any], await redis.xrange(name))
    await redis.delete(name)
    for entry_id, fields in entries[:-1]:
        await redis.xadd(name, fields, id=entry_id)
    await redis.set(keys.lease(started.id), "2:another")

    def then_ends(asked: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def answered(*arguments: Any) -> Any:
            found = await asked(*arguments)
            if await redis.exists(keys.lease(started.id)):
                await redis.xadd(name, entries[-1][1], id=entries[-1][0])
                await redis.delete(keys.lease(started.id), keys.request(started.id))
            return found

        return answered

    for question in ("entries", "in_hand"):
        monkeypatch.setattr(gateway.leases, question, then_ends(getattr(gateway.leases, question)))

    answer = await asyncio.wait_for(_read_at(gateway, started.id, after=0), TIMEOUT_S)

    assert answer.events == whole.events


async def _read_at(gateway: Gateway, generation_id: UUID, *, after: int) -> Answer:
    events: list[Event] = []
    async for batch in gateway.reader.events(generation_id, after=after):
        events += batch
    return Answer(events)
