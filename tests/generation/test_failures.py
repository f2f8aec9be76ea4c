"""Replicas that fail, and a Redis that loses everything: the reader sees a pause, at most."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from redis.asyncio import Redis

from backend.accounts.principal import Principal
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.pools.replicas import Replica
from backend.generation.request import SamplingParams
from backend.generation.stream import keys
from backend.generation.stream.log import StreamEntries
from backend.platform.database import in_database
from backend.platform.errors import Overloaded, UpstreamFailed
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    ask,
    caller,
    chat,
    check_billed,
    pools_of,
    read,
    running_gateway,
    start,
    stored,
)

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]


async def becomes_healthy(replica: Replica) -> None:
    while not replica.healthy:
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("failure", ["break_after", "error_after"])
async def test_answer_continues_at_another_replica_when_one_fails_mid_stream(
    transactional_db: None, start_upstream: StartUpstream, failure: str
) -> None:
    principal = await caller()
    bad = await start_upstream(**{failure: 8})
    good = await start_upstream()
    async with running_gateway(pools_of(bad, good)):
        # Least outstanding takes the first of equals: the bad one.
        started, answer = await ask(chat(principal, max_tokens=20))

    answer.check_order()
    assert answer.text == words(0, 20)
    row = await check_billed(started.id, output_tokens=20, state="completed")
    assert row.replica == "replica-1"
    assert row.input_tokens == 4  # the text so far, sent again, is not billed as input
    [continued] = good.served
    assert continued.body["messages"][-1] == {"role": "assistant", "content": words(0, 8)}
    assert continued.body["max_tokens"] == 12


async def test_completion_continues_by_its_prompt_after_a_failure(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    bad, good = await start_upstream(break_after=8), await start_upstream()
    async with running_gateway(pools_of(bad, good)):
        request = chat(
            principal, endpoint="completion", messages=[], prompt="Once upon", max_tokens=20
        )
        started, answer = await ask(request)

    assert answer.text == words(0, 20)
    assert good.served[0].body["prompt"] == "Once upon" + words(0, 8)
    await check_billed(started.id, output_tokens=20, state="completed")


async def test_another_replica_is_asked_when_one_fails_before_the_first_token(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    full = await start_upstream(refuse=(503, {"error": {"message": "full"}}))
    good = await start_upstream()
    async with running_gateway(pools_of(full, good)):
        started, answer = await ask(chat(principal, max_tokens=5))

    assert answer.text == words(0, 5)
    assert len(full.served) == 1
    await check_billed(started.id, output_tokens=5, state="completed")


async def test_answer_of_a_frozen_replica_goes_on_elsewhere(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    """Its connections stay open, and nothing comes any more: like a process that was stopped."""
    principal = await caller()
    frozen = await start_upstream(freeze_after=6)
    good = await start_upstream()
    async with running_gateway(pools_of(frozen, good)) as gateway:
        async with asyncio.timeout(30):
            started, answer = await ask(chat(principal, max_tokens=20))
            [replica, _] = gateway.queues.replica_sets()[0].replicas
            assert not replica.healthy
            frozen.frozen = False
            await becomes_healthy(replica)

    assert answer.text == words(0, 20)
    assert [served.sent for served in (*frozen.served, *good.served)] == [6, 14]
    await check_billed(started.id, output_tokens=20, state="completed")


async def test_replica_that_fails_every_generation_is_hardly_asked(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    """It answers its probes, so that they alone would send it work again every second."""
    principal = await caller()
    bad = await start_upstream(refuse=(500, {"error": {"message": "broken"}}))
    good = await start_upstream(rate=0.0)
    async with running_gateway(pools_of(bad, good)) as gateway:
        [replica, _] = gateway.queues.replica_sets()[0].replicas
        for _ in range(12):
            replica.mark(True, "ready")  # as a probe would
            _, answer = await ask(chat(principal, max_tokens=2))
            assert answer.text == words(0, 2)
        assert replica.breaker.state != "closed"
    assert len(bad.served) <= 6


async def test_answer_waits_for_the_only_replica_to_come_back(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    upstream = await start_upstream(rate=50.0)
    async with running_gateway(pools_of(upstream)):
        request = chat(principal, max_tokens=40)
        started = await start(request)
        reading = asyncio.create_task(read(started.id, principal))
        await asyncio.sleep(0.3)
        port = upstream.port
        await upstream.stop()
        await asyncio.sleep(1.5)
        await upstream.start(port)
        answer = await reading

    answer.check_order()
    assert answer.text == words(0, 40)
    await check_billed(started.id, output_tokens=40, state="completed")


async def test_request_fails_when_it_breaks_every_replica(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    upstreams = [await start_upstream(break_after=0) for _ in range(6)]
    async with running_gateway(pools_of(*upstreams)):
        with pytest.raises(UpstreamFailed):
            started = await start(chat(principal))
            await read(started.id, principal)
            raise UpstreamFailed((await stored(started.id)).error_code)

    assert sum(len(upstream.served) for upstream in upstreams) == 4
    [row] = await in_database(lambda: list(Generation.objects.all()))
    await check_billed(row.id, output_tokens=0, state="failed")


async def test_request_is_503_when_all_replicas_are_full(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    full = await start_upstream(refuse=(429, {"error": {"message": "full"}}))
    async with running_gateway(pools_of(full)):
        with pytest.raises(Overloaded):
            await start(chat(principal))


async def test_answer_ends_with_its_text_when_it_cannot_be_continued(
    transactional_db: None, start_upstream: StartUpstream
) -> None:
    principal = await caller()
    bad, good = await start_upstream(break_after=8), await start_upstream()
    async with running_gateway(pools_of(bad, good)):
        params = SamplingParams(max_tokens=20, response_format={"type": "json_object"})
        started, answer = await ask(chat(principal, params=params))

    answer.check_order()
    assert answer.text == words(0, 8)
    assert answer.error is not None and answer.error["code"] == "upstream_failed"
    await check_billed(started.id, output_tokens=8, state="failed")
    assert good.served == []


async def test_answer_is_complete_when_redis_loses_everything_mid_stream(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, 60
    started = await start(chat(principal, max_tokens=80))
    reading = asyncio.create_task(read(started.id, principal))
    async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        for _ in range(3):
            await asyncio.sleep(0.4)
            await redis.flushall()
    upstream.behaviour.hang_after = None
    answer = await reading

    answer.check_order()
    assert answer.text == words(0, 80)
    await check_billed(started.id, output_tokens=80, state="completed")
    assert len(upstream.served) == 1
    # The buffer was written again: a reader that comes late gets all of it.
    assert (await read(started.id, principal)).events == answer.events


async def test_answer_is_complete_when_redis_loses_its_last_writes(
    gateway: Gateway, upstream: SyntheticUpstream, principal: Principal
) -> None:
    """What a Redis with `appendfsync everysec` does when it is killed."""
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, 50
    started = await start(chat(principal, max_tokens=60))
    reading = asyncio.create_task(read(started.id, principal))
    await asyncio.sleep(0.6)
    async with Redis.from_url(os.environ["REDIS_URL"]) as redis:
        key = keys.events(started.id)
        saved = cast(StreamEntries, await redis.xrange(key, count=5))
        # In one transaction: the writer must not come between, it would be first.
        async with redis.pipeline(transaction=True) as rewrite:
            rewrite.delete(key)
            for entry_id, fields in saved:
                rewrite.xadd(key, {"d": fields[b"d"], "m": fields[b"m"]}, id=entry_id)
            await rewrite.execute()
    upstream.behaviour.hang_after = None
    answer = await reading

    answer.check_order()
    assert answer.text == words(0, 60)
    assert (await read(started.id, principal)).events == answer.events
