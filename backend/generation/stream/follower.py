"""Reads the events of generations that other processes run: one connection a shard for all.

A single blocking XREAD covers every followed stream of a shard and this process' control stream
there. A message to the latter ends the wait: it says that the list of streams has changed, or that
a request asks for a generation of ours to be cancelled.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import cast
from uuid import UUID

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from backend.generation.request import DONE, Event
from backend.generation.stream import keys
from backend.generation.stream.log import StreamEntries
from backend.platform.services_away import SERVICES_AWAY

log = structlog.get_logger(__name__)

_BLOCK_MS = 5_000
_COUNT = 512
_RETRY_S = 0.25
_CONTROL_LENGTH = 1_000
_CONTROL_TTL_S = 60


class Subscription:
    """One reader's place in one stream: every event after `after`, once, in order. `holds`: the
    generation has a reader in it, and is not cancelled for want of one."""

    def __init__(self, generation_id: UUID, after: int, *, holds: bool = True) -> None:
        self.generation_id = generation_id
        self.holds = holds
        self._offered = after  # the last event that was queued; 0 … `after` count as queued
        self._batches: asyncio.Queue[list[Event]] = asyncio.Queue()

    def offer(self, events: list[Event]) -> None:
        """Queue what the reader has not had. `events` leave no gap after what was queued."""
        if events[-1].seq > self._offered:
            self._batches.put_nowait([event for event in events if event.seq > self._offered])
            self._offered = events[-1].seq

    async def next_batch(self, timeout_s: float) -> list[Event]:
        """The next new events; [] when none came in `timeout_s`."""
        try:
            async with asyncio.timeout(timeout_s):
                return await self._batches.get()
        except TimeoutError:
            return []


class Follower:
    """The process' one reader of remote streams.

    Attributes:
        shards: each with its own task.

    Args:
        redis: a client whose connections have no read timeout under the blocking time.
        on_cancel: called with the id of a generation that another process asks us to cancel.
    """

    def __init__(self, redis: Redis, process_id: str, on_cancel: Callable[[UUID], None]) -> None:
        self._redis = redis
        self.shards = [
            ShardFollower(redis, keys.control(process_id, shard), on_cancel)
            for shard in keys.shards()
        ]

    @property
    def followed(self) -> list[UUID]:
        return [generation_id for shard in self.shards for generation_id in shard.followed]

    def subscribe(
        self, generation_id: UUID, after: int, *, holds: bool = True
    ) -> AbstractAsyncContextManager[Subscription]:
        """The events after `after`, as they come, while the context lasts."""
        shard = self.shards[keys.shard_of(generation_id)]
        return shard.subscribe(generation_id, after, holds=holds)

    async def ask_to_cancel(self, process_id: str, generation_id: UUID) -> None:
        """Tell the process that runs the generation."""
        control = keys.control(process_id, keys.shard_of(generation_id))
        await self._redis.xadd(
            control, {"op": "cancel", "id": str(generation_id)}, maxlen=_CONTROL_LENGTH
        )
        await self._redis.expire(control, _CONTROL_TTL_S)


class ShardFollower:
    """The reader of one shard.

    A stream is read from its position, which is never past what its hindmost reader was offered:
    so no reader misses an event, and a reader who joins behind the others moves it back.
    """

    def __init__(self, redis: Redis, control: str, on_cancel: Callable[[UUID], None]) -> None:
        self._redis = redis
        self._control = control.encode()
        self._on_cancel = on_cancel
        self._subscriptions: defaultdict[UUID, list[Subscription]] = defaultdict(list)
        self._positions: dict[UUID, int] = {}
        self._control_position = b"0-0"

    @property
    def followed(self) -> list[UUID]:
        return [
            one for one, readers in self._subscriptions.items() if any(r.holds for r in readers)
        ]

    @asynccontextmanager
    async def subscribe(
        self, generation_id: UUID, after: int, *, holds: bool = True
    ) -> AsyncIterator[Subscription]:
        """The events after `after`, as they come, while the context lasts."""
        subscription = Subscription(generation_id, after, holds=holds)
        self._subscriptions[generation_id].append(subscription)
        position = self._positions.get(generation_id)
        try:
            if position is None or after < position:
                self._positions[generation_id] = after
                await self._wake()
            yield subscription
        finally:
            self._leave(subscription)

    async def _wake(self) -> None:
        """End the read that is under way: the next one is from the new positions."""
        try:
            await self._redis.xadd(self._control, {"op": "wake"}, maxlen=_CONTROL_LENGTH)
        except SERVICES_AWAY as error:
            # That read fails too, or ends by itself: for a reader, Redis away is a pause.
            log.warning("follower_not_woken", error=str(error))

    async def run(self) -> None:
        """The follower's task; runs until it is cancelled."""
        while True:
            try:
                await self._read_once()
            except (RedisError, OSError) as error:
                log.warning("follower_unreachable", error=str(error))
                await asyncio.sleep(_RETRY_S)

    async def _read_once(self) -> None:
        streams: dict[bytes | str | memoryview, int | bytes | str | memoryview] = {
            self._control: self._control_position
        }
        followed: dict[bytes, tuple[UUID, int]] = {}
        for generation_id, position in self._positions.items():
            name = keys.events(generation_id).encode()
            streams[name] = b"%d-0" % position
            followed[name] = (generation_id, position)
        found = await self._redis.xread(streams, count=_COUNT, block=_BLOCK_MS)
        for name, entries in cast(list[tuple[bytes, StreamEntries]], found or []):
            if name in followed:
                self._deliver(*followed[name], _events(entries))
            else:
                self._take_control(entries)

    def _take_control(self, entries: StreamEntries) -> None:
        for entry_id, fields in entries:
            self._control_position = entry_id
            if fields.get(b"op") == b"cancel":
                self._on_cancel(UUID(fields[b"id"].decode()))

    def _deliver(self, generation_id: UUID, position: int, events: list[Event]) -> None:
        if self._positions.get(generation_id) != position:
            # While the answer was on its way the last reader left, or one joined further back,
            # for whom `events` would leave a gap: they are read again.
            return
        self._positions[generation_id] = events[-1].seq
        for subscription in self._subscriptions[generation_id]:
            subscription.offer(events)
        if events[-1].data == DONE:
            self._positions.pop(generation_id)  # nothing more to read; readers may still drain

    def _leave(self, subscription: Subscription) -> None:
        others = self._subscriptions[subscription.generation_id]
        others.remove(subscription)
        if not others:
            del self._subscriptions[subscription.generation_id]
            self._positions.pop(subscription.generation_id, None)


def _events(entries: StreamEntries) -> list[Event]:
    return [
        Event(int(entry_id.partition(b"-")[0]), fields[b"d"], fields[b"m"])
        for entry_id, fields in entries
    ]
