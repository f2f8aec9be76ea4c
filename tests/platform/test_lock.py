"""A lock belongs to who took it last, whatever the one before does when it comes back."""

import asyncio

from backend.platform.lock import RenewedLock
from backend.platform.redis import async_client

TTL_S = 0.3


async def test_lock_is_refused_while_another_holds_it() -> None:
    first, second = (RenewedLock("lock:test", ttl_s=TTL_S) for _ in range(2))
    assert await first.take()
    assert not await second.take()
    await first.give_back()
    assert await second.take()


async def test_lock_does_not_lapse_while_it_is_renewed() -> None:
    first, second = (RenewedLock("lock:test", ttl_s=TTL_S) for _ in range(2))
    assert await first.take()
    async with first.renewed():
        await asyncio.sleep(2 * TTL_S)
        assert not await second.take()
        assert await is_held_by(first)


async def test_lapsed_holder_does_not_free_lock_of_its_successor() -> None:
    first, second = await _lapsed_and_its_successor()
    assert not await is_held_by(first)
    await first.give_back()
    assert await is_held_by(second)
    assert not await RenewedLock("lock:test", ttl_s=TTL_S).take()


async def test_lapsed_holder_does_not_prolong_lock_of_its_successor() -> None:
    first, second = await _lapsed_and_its_successor()
    async with first.renewed():
        await asyncio.sleep(2 * TTL_S)
    assert not await is_held_by(second)
    assert await RenewedLock("lock:test", ttl_s=TTL_S).take()


async def test_lock_given_back_twice_is_freed_once() -> None:
    first, second = (RenewedLock("lock:test", ttl_s=TTL_S) for _ in range(2))
    assert await first.take()
    await first.give_back()
    assert await second.take()
    await first.give_back()
    assert await is_held_by(second)


async def is_held_by(lock: RenewedLock) -> bool:
    return await async_client().get("lock:test") == lock.token.encode()


async def _lapsed_and_its_successor() -> tuple[RenewedLock, RenewedLock]:
    first, second = (RenewedLock("lock:test", ttl_s=TTL_S) for _ in range(2))
    assert await first.take()
    await asyncio.sleep(1.5 * TTL_S)
    assert await second.take()
    return first, second
