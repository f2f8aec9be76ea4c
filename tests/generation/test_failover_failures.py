"""What cannot be failed over does not stand in the way of what can."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection
from redis.asyncio import Redis

from backend.accounts.principal import Principal
from backend.generation import metrics
from backend.generation.pools.config import Pools
from backend.generation.recovery import failover
from backend.generation.stream import keys
from backend.platform.database import in_database
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    HELD,
    TURN,
    Answer,
    chat,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    read,
    running_gateway,
    start,
    until_ended,
)

WAIT_S = 60.0
# As many as one round looks at. The ids sort before and after each other in Redis.
AT_A_TIME = 16
LAST_ID = UUID("ffffffff-ffff-4fff-bfff-ffffffffffff")
REMOVED = "removed-model"


@pytest.fixture
async def redis() -> AsyncIterator[Redis]:
    async with Redis.from_url(os.environ["REDIS_URL"]) as client:
        yield client


async def test_generations_of_removed_model_end_as_failed_with_what_was_delivered_billed(
    principal: Principal, upstream: SyntheticUpstream
) -> None:
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    kept = pools_of(upstream)
    both = Pools((*kept.models, replace(kept.models[0], id=REMOVED, aliases=())))
    first = await doomed_gateway(both)
    removed = [
        (
            await start(
                chat(principal, model=REMOVED, max_tokens=500, turn=TURN, on_disconnect="grace")
            )
        ).id
        for _ in range(AT_A_TIME)
    ]
    last = chat(principal, max_tokens=60, turn=TURN, on_disconnect="grace", generation_id=LAST_ID)
    await start(last)
    for generation_id in (*removed, LAST_ID):
        await read(generation_id, principal, until=lambda events: len(events) >= 4)
    await kill_gateway(first)
    upstream.behaviour.hang_after = None

    async with running_gateway(kept):
        answer = await asyncio.wait_for(read(LAST_ID, principal), timeout=WAIT_S)
        assert answer.text == words(0, 60)
        for generation_id in removed:
            cut = await asyncio.wait_for(read(generation_id, principal), timeout=WAIT_S)
            cut.check_order()
            assert cut.error is not None and cut.error["code"] == "model_not_found"
            delivered = len(cut.text.split())
            assert delivered >= 1
            row = await check_billed(generation_id, output_tokens=delivered, state="failed")
            assert (row.error_code, row.input_tokens, row.epoch) == ("model_not_found", 4, 2)


async def test_whole_answer_of_removed_model_is_completed(
    principal: Principal, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of it was delivered; its process died before it was stored."""
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    request = chat(principal, max_tokens=10, turn=TURN, on_disconnect="grace")
    with monkeypatch.context() as patched:
        patched.setattr("backend.generation.finish.finalize.generation_finish", _stays_open)
        started = await start(request)
        await read(started.id, principal, until=lambda events: bool(Answer(events).finish_reason))
        await kill_gateway(first)
    async with running_gateway(pools_of(upstream, id="another-model")):
        answer = await asyncio.wait_for(read(started.id, principal), timeout=WAIT_S)
    assert answer.text == words(0, 10)
    await check_billed(started.id, output_tokens=10, state="completed")


async def test_unreadable_generations_do_not_block_later_ones(
    principal: Principal, upstream: SyntheticUpstream, redis: Redis
) -> None:
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    started = await start(
        chat(principal, max_tokens=60, turn=TURN, on_disconnect="grace", generation_id=LAST_ID)
    )
    await read(started.id, principal, until=lambda events: len(events) >= 4)
    await kill_gateway(first)
    upstream.behaviour.hang_after = None
    for _ in range(AT_A_TIME):
        broken = uuid4()
        await redis.set(keys.request(broken), b"\xc1 junk")
        await redis.zadd(keys.leases(keys.shard_of(broken)), {str(broken): 0})
    before = _failures("failover")

    async with running_gateway(pools):
        answer = await asyncio.wait_for(read(started.id, principal), timeout=WAIT_S)

    assert answer.text == words(0, 60)
    await check_billed(started.id, output_tokens=60, state="completed")
    assert _failures("failover") >= before + AT_A_TIME


@pytest.mark.parametrize("step", ["generation_claim", "policy_for"])
async def test_generation_is_taken_up_in_the_next_round_when_postgresql_was_away_in_one(
    principal: Principal, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """What the first round has announced and taken would keep everybody out for an hour here."""
    monkeypatch.setattr("backend.generation.stream.leases._CLAIM_MS", 3_600_000)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    started = await start(chat(principal, max_tokens=60, turn=TURN, on_disconnect="grace"))
    await read(started.id, principal, until=lambda events: len(events) >= 4)
    await kill_gateway(first)
    upstream.behaviour.hang_after = None

    async with running_gateway(pools, lease_s=3600.0) as second:
        while started.id not in await second.leases.lapsed(1):
            await asyncio.sleep(0.05)
        with monkeypatch.context() as patched:
            patched.setattr(f"{failover.__name__}.{step}", _stays_open)
            with pytest.raises(OperationalError):
                await second.failover.round()
        await second.failover.round()
        answer = await asyncio.wait_for(read(started.id, principal), timeout=WAIT_S)
    assert answer.text == words(0, 60)


async def test_overdue_generation_whose_events_cannot_be_read_is_settled(
    principal: Principal, upstream: SyntheticUpstream, redis: Redis
) -> None:
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    started = await start(
        chat(principal, max_tokens=2000, turn=TURN, on_disconnect="grace", timeout_s=1.5)
    )
    await read(started.id, principal, until=lambda events: len(events) >= 4)
    await kill_gateway(first)
    await redis.xadd(keys.events(started.id), {"d": b"junk", "m": b"\xc1"}, id="100000-0")

    async with running_gateway(pools, reap_after_s=0.1):
        row = await until_ended(started.id, timeout_s=WAIT_S)
    assert (row.state, row.error_code) == ("failed", "lost")


async def test_reaper_settles_others_when_one_fails(
    principal: Principal, upstream: SyntheticUpstream, redis: Redis
) -> None:
    pools = pools_of(upstream)
    upstream.behaviour.hang_after = HELD
    first = await doomed_gateway(pools)
    oldest, *others = [
        (await start(chat(principal, max_tokens=400, turn=TURN, on_disconnect="grace"))).id
        for _ in range(3)
    ]
    await kill_gateway(first)
    await redis.flushall()
    before = _failures("reaper")

    async with _unbillable(oldest), running_gateway(pools, reap_after_s=0.1):
        for generation_id in others:
            await until_ended(generation_id, timeout_s=WAIT_S)
    assert _failures("reaper") > before


def _failures(step: str) -> float:
    return metrics.RECOVERY_FAILURES.labels(step)._value.get()


def _stays_open(**_: object) -> None:
    raise OperationalError("the connection is closed")


@asynccontextmanager
async def _unbillable(generation_id: UUID) -> AsyncIterator[None]:
    """PostgreSQL refuses the usage record of one generation, each time."""
    await in_database(
        _execute,
        f"""
        CREATE FUNCTION refuse_one() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NEW.generation_id = '{generation_id}' THEN RAISE EXCEPTION 'refused'; END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER refuse_one BEFORE INSERT ON billing_usagerecord
          FOR EACH ROW EXECUTE FUNCTION refuse_one()
        """,
    )
    try:
        yield
    finally:
        await in_database(
            _execute,
            "DROP TRIGGER refuse_one ON billing_usagerecord; DROP FUNCTION refuse_one",
        )


def _execute(statements: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statements)
