"""Generations whose process dies or goes: another one takes them up, once, from where they were."""

import asyncio
import threading
from dataclasses import replace
from uuid import UUID

import pytest
from django.db import OperationalError, connection, transaction

from backend.generation.finish import finalize
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from infra.load.upstream import SyntheticUpstream, words
from tests.support.gateway import (
    HELD,
    TURN,
    Answer,
    caller,
    cancel,
    chat,
    check_billed,
    doomed_gateway,
    kill_gateway,
    pools_of,
    read,
    running_gateway,
    start,
    stored,
    until_ended,
    usage_records,
)

TIMEOUT_S = 60.0


async def test_draining_process_hands_its_generations_over(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    pools = pools_of(upstream)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    async with running_gateway(pools):
        started = await start(chat(principal, max_tokens=100, turn=TURN))
        first = await read(started.id, principal, until=lambda events: len(events) == 10)
    assert (await stored(started.id)).is_open
    upstream.behaviour.hang_after = None
    async with running_gateway(pools):
        rest = await asyncio.wait_for(read(started.id, principal, after=10), timeout=TIMEOUT_S)

    whole = Answer(first.events + rest.events)
    whole.check_order()
    assert whole.text == words(0, 100)
    await check_billed(started.id, output_tokens=100, state="completed")


async def test_dead_process_is_failed_over_and_readers_elsewhere_go_on(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    pools = pools_of(upstream)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    first = await doomed_gateway(pools)
    started = await start(chat(principal, max_tokens=60, turn=TURN))
    async with running_gateway(pools) as second:
        reading = asyncio.create_task(_read_at(second, started.id))
        await asyncio.sleep(0.6)
        await kill_gateway(first)
        upstream.behaviour.hang_after = None
        answer = await asyncio.wait_for(reading, timeout=TIMEOUT_S)

    answer.check_order()
    assert answer.text == words(0, 60)
    row = await check_billed(started.id, output_tokens=60, state="completed")
    assert row.epoch == 2
    assert row.input_tokens == 4


async def test_several_prompts_go_on_each_from_its_own_text(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """Each prompt counts once, and what is echoed of it is no output."""
    principal = await caller()
    pools = pools_of(upstream)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    first = await doomed_gateway(pools)
    prompts: list[str | list[int]] = ["one two", "three four five"]
    wanted = replace(
        chat(principal, max_tokens=40, turn=TURN, n=4),
        endpoint="completion", messages=[], prompt=prompts[0], more_prompts=prompts[1:], echo=True,
    )  # fmt: skip
    started = await start(wanted)
    async with running_gateway(pools) as second:
        reading = asyncio.create_task(_read_at(second, started.id))
        await asyncio.sleep(0.5)
        await kill_gateway(first)
        upstream.behaviour.hang_after = None
        answer = await asyncio.wait_for(reading, timeout=TIMEOUT_S)

    texts = [answer.text_of(choice) for choice in range(4)]
    assert texts == [f"{prompt}{words(0, 40)}" for prompt in prompts for _ in range(2)]
    row = await check_billed(started.id, output_tokens=160, state="completed")
    assert (row.epoch, row.input_tokens) == (2, 5)


async def test_delivered_tokens_are_billed_when_a_process_dies_before_its_row_is_marked(
    transactional_db: None, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row says that it runs a moment later than the first words go out."""
    monkeypatch.setattr("backend.generation.run.marks._TOGETHER_S", 3600.0)
    principal = await caller()
    pools = pools_of(upstream)
    upstream.behaviour.rate, upstream.behaviour.hang_after = 40.0, HELD
    first = await doomed_gateway(pools)
    started = await start(chat(principal, max_tokens=60, turn=TURN))
    await read(started.id, principal, until=lambda events: len(events) >= 4)
    await kill_gateway(first)
    assert (await stored(started.id)).pool == ""
    async with running_gateway(pools):
        await cancel(started.id, principal=principal)
        row = await until_ended(started.id)
    assert row.output_tokens >= 1
    await check_billed(started.id, output_tokens=row.output_tokens, state="cancelled")


async def test_generation_whose_end_was_not_stored_is_finished(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """It dies between its terminal transaction and its last event."""
    principal = await caller()
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    request = chat(principal, max_tokens=20, turn=TURN, stream_usage=True)
    with _row_locked() as lock:
        started = await start(request)
        await asyncio.to_thread(lock.acquire_row, started.id)
        stream = first.reader.events(started.id, after=0)
        seen: list[object] = []
        async for batch in stream:
            seen += batch
            if Answer(list(batch)).finish_reason:
                break
        for task in first._tasks:
            task.cancel()  # the writer too: the last events stay here
    ended = await until_ended(started.id)
    await kill_gateway(first)
    async with running_gateway(pools):
        answer = await asyncio.wait_for(read(started.id, principal), timeout=TIMEOUT_S)

    answer.check_order()
    assert answer.text == words(0, 20)
    assert answer.chunks[-1]["usage"]["completion_tokens"] == 20
    assert (await stored(started.id)).finished_at == ended.finished_at
    assert len(await usage_records(started.id)) == 1
    assert len(upstream.served) == 1


async def test_generation_is_cancelled_from_another_process(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    pools = pools_of(upstream)
    async with running_gateway(pools):
        started = await start(chat(principal, max_tokens=2000, turn=TURN))
        async with running_gateway(pools) as second:
            assert started.id not in second.active
            reading = asyncio.create_task(_read_at(second, started.id))
            await asyncio.sleep(0.3)
            await cancel(started.id, principal=principal)
            answer = await asyncio.wait_for(reading, timeout=TIMEOUT_S)

    answer.check_order()
    count = len(answer.text.split())
    await check_billed(started.id, output_tokens=count, state="cancelled")


async def test_cancelled_generation_stays_cancelled_when_claimed_before_it_was_stored(
    transactional_db: None, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last event is there, its process dies while PostgreSQL is away."""
    principal = await caller()
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    started = await start(chat(principal, max_tokens=2000, turn=TURN))
    with monkeypatch.context() as patched:
        patched.setattr(finalize, "generation_finish", _database_away)
        await read(started.id, principal, until=lambda events: len(events) >= 5)
        await cancel(started.id, principal=principal)
        await read(started.id, principal, until=lambda events: bool(Answer(events).finish_reason))
        await kill_gateway(first)
    async with running_gateway(pools):
        answer = await asyncio.wait_for(read(started.id, principal), timeout=TIMEOUT_S)

    assert answer.finish_reason == "cancelled"
    count = len(answer.text.split())
    row = await check_billed(started.id, output_tokens=count, state="cancelled")
    assert row.finish_reason == "cancelled"


def _database_away(**_: object) -> None:
    raise OperationalError("the connection is closed")


async def test_generation_is_settled_when_process_and_buffer_are_lost(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    principal = await caller()
    pools = pools_of(upstream)
    first = await doomed_gateway(pools)
    upstream.behaviour.hang_after = HELD
    started = await start(chat(principal, max_tokens=400, turn=TURN))
    await asyncio.sleep(0.3)
    await kill_gateway(first)
    await first.redis.flushall()
    async with running_gateway(pools, reap_after_s=0.1):
        await until_ended(started.id)

    row = await check_billed(started.id, output_tokens=0, state="failed")
    assert row.error_code == "lost"


async def _read_at(gateway: Gateway, generation_id: UUID) -> Answer:
    """Read at one of several gateways of this event loop."""
    events = []
    async for batch in gateway.reader.events(generation_id, after=0):
        events += batch
    return Answer(events)


class _RowLock:
    """Holds a generation's row, so that nobody can end it meanwhile."""

    def __init__(self) -> None:
        self._held = threading.Event()
        self._release = threading.Event()
        self._thread: threading.Thread | None = None

    def acquire_row(self, generation_id: UUID) -> None:
        def hold() -> None:
            with transaction.atomic():
                Generation.objects.select_for_update().get(pk=generation_id)
                self._held.set()
                self._release.wait(20)
            connection.close()

        self._thread = threading.Thread(target=hold)
        self._thread.start()
        self._held.wait(10)

    def __enter__(self) -> "_RowLock":
        return self

    def __exit__(self, *error: object) -> None:
        self._release.set()
        if self._thread is not None:
            self._thread.join()


def _row_locked() -> _RowLock:
    return _RowLock()
