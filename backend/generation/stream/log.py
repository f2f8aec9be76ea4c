"""One generation's events in the process that runs it, and how far Redis has them.

Readers of the same process are served from here, and only what Redis has acknowledged: what one
reader has seen, every other process could show too, whatever dies next. All events are kept for
as long as the generation runs, so that a Redis that lost them can be given them again.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple
from uuid import UUID

from backend.generation.request import DONE, Event
from backend.generation.stream import keys

# What redis-py returns for the entries of a stream; its own type allows for every protocol.
StreamEntries = list[tuple[bytes, dict[bytes, bytes]]]


class Entry(NamedTuple):
    """`meta` is an encoded EventMeta."""

    data: bytes
    meta: bytes


class EventLog:
    """Events 1 … `last`.

    Attributes:
        shard: in which its keys lie.
        keys: of the lease and of the stream, as bytes: they are written with every append.
        lease: the value under which this process appends.
        stored: Redis has 1 … `stored`. Falls when Redis lost something, and is then made good.
        shown: the most that `stored` has ever been: what readers may have seen.
        lost: another process has the generation now; this log will not grow any more.
        withdrawn: events were dropped that Redis may hold; see `withdraw`.
    """

    def __init__(
        self,
        generation_id: UUID,
        lease: str,
        entries: list[Entry] | None = None,
        on_lost: Callable[[], None] | None = None,
    ) -> None:
        self._on_lost = on_lost
        self.generation_id = generation_id
        self.shard = keys.shard_of(generation_id)
        self.keys = (keys.lease(generation_id).encode(), keys.events(generation_id).encode())
        self.lease = lease
        self.entries = entries or []
        self.stored = len(self.entries)
        self.shown = len(self.entries)
        self.lost = False
        self.withdrawn = False
        self._waiting: list[asyncio.Future[None]] = []

    @property
    def last(self) -> int:
        return len(self.entries)

    @property
    def complete(self) -> bool:
        """`[DONE]` is there, and readers may see it."""
        return (
            bool(self.entries) and self.shown == len(self.entries) and self.entries[-1].data == DONE
        )

    def append(self, data: bytes, meta: bytes) -> int:
        """Add an event; its seq. The writer must be notified (`BufferWriter.mark`)."""
        self.entries.append(Entry(data, meta))
        return len(self.entries)

    def acknowledge(self, seq: int) -> None:
        """Redis has everything up to `seq`."""
        self.stored = seq
        self.shown = max(self.shown, seq)
        self._wake()

    def rewind(self, seq: int) -> None:
        """Redis lost what came after `seq`."""
        self.stored = seq

    def withdraw(self) -> None:
        """Drop what no reader of this process has seen. Redis may hold it nevertheless: an append
        whose reply was lost. So the writer leaves this log alone from now on, and what ends
        it puts it in the place of what Redis has (`Leases.end_with`)."""
        del self.entries[self.shown :]
        self.withdrawn = True

    def show_all(self) -> None:
        """Let readers see the rest without Redis. Only for the end of a generation whose end is
        committed in PostgreSQL: no other process can continue it differently then."""
        self.shown = len(self.entries)
        self._wake()

    def lose(self) -> None:
        """Another process has the generation: nothing more is appended here."""
        if not self.lost:
            self.lost = True
            self._wake()
            if self._on_lost is not None:
                self._on_lost()

    async def wait_stored(self, seq: int) -> None:
        """Return when Redis has event `seq`, or when the log is lost."""
        while self.stored < seq and not self.lost:
            await self._change()

    async def read(self, after: int) -> AsyncIterator[list[Event]]:
        """The events after `after`, then those to come; ends with the last one, or
        when the log is lost: then the reader goes on at another process' events."""
        while True:
            if self.shown > after:
                upto = self.shown
                yield [Event(i + 1, *self.entries[i]) for i in range(after, upto)]
                after = upto
            elif self.lost or self.complete:
                return
            else:
                await self._change()

    async def _change(self) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
