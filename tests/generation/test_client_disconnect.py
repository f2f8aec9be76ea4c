"""Who leaves during admission, or finds Redis away, leaves nothing behind: no place, no
reservation, no open row."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction

from backend.accounts.principal import PlanLimits, Principal
from backend.generation.embeddings import EmbeddingRequest
from backend.generation.gateway import Gateway
from backend.generation.models import Generation
from backend.generation.run import active
from backend.generation.service import embeddings_create
from backend.platform.database import in_database
from backend.platform.errors import Overloaded
from backend.platform.redis import sync_client
from billing.budgets.services import budget_set
from billing.prices.services import prices_seed
from infra.load.upstream import SyntheticUpstream, words
from tests.factories import MODEL
from tests.support.gateway import (
    TURN,
    ask,
    caller,
    chat,
    check_billed,
    newest,
    pools_of,
    read,
    running_gateway,
    start,
    until_ended,
)
from tests.support.redis_proxy import RedisProxy

ONE_AT_A_TIME = PlanLimits("free", 10, 1000, 10_000_000, 1)
WAIT_S = 20.0


@pytest.fixture
async def redis_proxy(settings: Any) -> AsyncIterator[RedisProxy]:
    """Between the gateway and Redis."""
    proxy = RedisProxy(os.environ["REDIS_URL"])
    await proxy.start()
    settings.REDIS_URL = settings.STREAM_REDIS_URL = proxy.url
    sync_client.cache_clear()
    yield proxy
    sync_client.cache_clear()  # what was made meanwhile knows the proxy only
    await proxy.stop()


@pytest.fixture
async def gateway(
    transactional_db: None, redis_proxy: RedisProxy, upstream: SyntheticUpstream
) -> AsyncIterator[Gateway]:
    able = ("chat", "completions", "embeddings", "streaming")
    async with running_gateway(pools_of(upstream, capabilities=able)) as running:
        yield running


async def test_place_is_freed_when_client_disconnects_while_limits_are_charged(
    gateway: Gateway, redis_proxy: RedisProxy
) -> None:
    principal = replace(await caller(), plan=ONE_AT_A_TIME)
    await _ended(chat(principal, max_tokens=5))  # its script is in Redis from now on

    redis_proxy.hold_replies_to(b"limit:")
    await _leave(redis_proxy, lambda: start(chat(principal, max_tokens=5)))

    await _ended(chat(principal, max_tokens=5))


async def test_reservation_is_released_when_client_disconnects_while_budget_is_checked(
    gateway: Gateway, redis_proxy: RedisProxy
) -> None:
    principal = await _with_budget(100)
    await _ended(chat(principal, max_tokens=1))

    redis_proxy.hold_replies_to(b"billing:reservation:")
    await _leave(redis_proxy, lambda: start(chat(principal, max_tokens=50)))

    # Two of 50 and a prompt do not fit into what is left of 100.
    await _ended(chat(principal, max_tokens=50))


async def test_generation_ends_when_client_disconnects_while_it_is_stored(
    gateway: Gateway, upstream: SyntheticUpstream
) -> None:
    principal = replace(await caller(), plan=ONE_AT_A_TIME)
    with _generations_locked() as release:
        starting = asyncio.create_task(start(chat(principal, max_tokens=5)))
        await _until_something_waits_for_a_lock()
        starting.cancel()
        await asyncio.sleep(0)
        release()
        with pytest.raises(asyncio.CancelledError):
            await starting
    async with asyncio.timeout(WAIT_S):
        while not (rows := await in_database(lambda: list(Generation.objects.all()))):
            await asyncio.sleep(0.05)
    [row] = rows
    assert (await until_ended(row.id, timeout_s=5)).state == "failed"
    assert upstream.served == []
    await _ended(chat(principal, max_tokens=5))


async def test_generation_without_a_lease_is_refused_and_ends_without_a_bill(
    gateway: Gateway, redis_proxy: RedisProxy, upstream: SyntheticUpstream
) -> None:
    """Redis goes away between the row and the lease: nothing of it was begun."""
    principal = replace(await caller(), plan=ONE_AT_A_TIME)
    await _ended(chat(principal, max_tokens=5))

    redis_proxy.hold_replies_to(b":request\r\n")  # which the lease is taken with
    with pytest.raises(Overloaded):
        await start(chat(principal, max_tokens=5))
    redis_proxy.release()

    [row] = await in_database(lambda: list(Generation.objects.filter(state="failed")))
    assert row.error_code == "overloaded"
    await check_billed(row.id, output_tokens=0, state="failed")
    assert len(upstream.served) == 1
    await _ended(chat(principal, max_tokens=5))


async def test_embedding_frees_its_place_when_client_disconnects_while_limits_are_charged(
    gateway: Gateway, redis_proxy: RedisProxy
) -> None:
    principal = replace(await caller(), plan=ONE_AT_A_TIME)
    await _ended(chat(principal, max_tokens=5))
    request = EmbeddingRequest(
        principal=principal, request_id="req_test", client_hash="", model=MODEL, inputs=["words"]
    )

    redis_proxy.hold_replies_to(b"limit:")
    await _leave(redis_proxy, lambda: embeddings_create(newest(), request))

    await _ended(chat(principal, max_tokens=5))


async def test_generation_with_grace_continues_when_client_disconnects_before_it_began(
    transactional_db: None, upstream: SyntheticUpstream
) -> None:
    """What an `Idempotency-Key` asks for: its retry finds the answer."""
    principal, generation_id = await caller(), uuid4()
    request = chat(principal, max_tokens=20, on_disconnect="grace", generation_id=generation_id)
    async with running_gateway(pools_of(upstream, max_concurrency=1)) as gateway:
        before = await start(chat(principal, max_tokens=200))
        starting = asyncio.create_task(start(request))
        async with asyncio.timeout(WAIT_S):
            while generation_id not in gateway.active:
                await asyncio.sleep(0.01)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await read(before.id, principal)
        answer = await read(generation_id, principal)
    assert answer.text == words(0, 20)
    assert (await until_ended(generation_id)).state == "completed"


async def test_caller_is_served_after_a_long_wait_in_the_queue(
    transactional_db: None, upstream: SyntheticUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under load a place may take longer than a started generation waits for its first reader."""
    monkeypatch.setattr(active, "_FIRST_READER_S", 0.05)
    principal = await caller()
    async with running_gateway(pools_of(upstream, max_concurrency=1)):
        before = await start(chat(principal, max_tokens=100, turn=TURN))
        reading = asyncio.create_task(read(before.id, principal))
        answer = await ask(chat(principal, max_tokens=5))
        await reading
    assert answer[1].text == words(0, 5)


async def _leave(proxy: RedisProxy, start: Callable[[], Any]) -> None:
    """Cancelled while Redis has done what was asked, and its reply is on the way."""
    starting = asyncio.ensure_future(start())
    async with asyncio.timeout(WAIT_S):
        while not proxy.held.is_set():
            assert not starting.done(), starting
            await asyncio.sleep(0.01)
    starting.cancel()
    await asyncio.sleep(0.05)
    proxy.release()
    with pytest.raises(asyncio.CancelledError):
        await starting


async def _ended(request: Any) -> None:
    """Ask, read it all, and wait until what it took is given back."""
    started, answer = await ask(request)
    assert answer.error is None
    await until_ended(started.id)
    await asyncio.sleep(0.2)


def _set_budget(amount: int, principal: Principal) -> None:
    prices_seed(prices={MODEL: {"input": "0", "output": "1000"}})
    budget_set(principal=principal, amount=Decimal(amount), is_hard=True)


async def _with_budget(amount: int) -> Principal:
    """Somebody whose organization may spend `amount`, at 1 for each token of output."""
    principal = await caller()
    await in_database(_set_budget, amount, principal)
    return principal


@contextmanager
def _generations_locked() -> Iterator[Callable[[], None]]:
    """Nobody can store a generation until what this gives is called."""
    locked, released = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE generation_generation IN SHARE ROW EXCLUSIVE MODE")
            locked.set()
            released.wait(WAIT_S)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait(WAIT_S)
    try:
        yield released.set
    finally:
        released.set()
        thread.join()


async def _until_something_waits_for_a_lock() -> None:
    def waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_locks WHERE NOT granted")
            return cursor.fetchone() is not None

    async with asyncio.timeout(WAIT_S):
        while not await in_database(waiting):
            await asyncio.sleep(0.05)
