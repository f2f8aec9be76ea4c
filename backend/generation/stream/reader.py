"""Reads a generation's events, wherever it runs, also when that changes meanwhile."""

from collections.abc import AsyncGenerator
from typing import Protocol
from uuid import UUID

import structlog

from backend.generation.models import Generation
from backend.generation.request import DONE, Event
from backend.generation.stream.follower import Follower
from backend.generation.stream.leases import Leases
from backend.generation.stream.log import EventLog
from backend.platform.database import in_database
from backend.platform.errors import NotFound
from backend.platform.services_away import SERVICES_AWAY

log = structlog.get_logger(__name__)

# After so long without an event from another process, see whether there will be any.
_IDLE_S = 2.0


class LocalGeneration(Protocol):
    """A generation that runs in this process, as its readers see it."""

    @property
    def log(self) -> EventLog: ...

    def attach(self) -> None: ...

    def detach(self) -> None: ...


class LocalGenerations(Protocol):
    """Those that run in this process; `draining`: it is going."""

    draining: bool

    def get(self, generation_id: UUID, /) -> LocalGeneration | None: ...


class Reader:
    """Reads for the clients of one process."""

    def __init__(self, local: LocalGenerations, follower: Follower, leases: Leases) -> None:
        self._local = local
        self._follower = follower
        self._leases = leases

    async def events(
        self, generation_id: UUID, *, after: int, holds: bool = True
    ) -> AsyncGenerator[list[Event], None]:
        """The events after `after`, in batches, `[DONE]` last.

        Ends without `[DONE]` only when this process is going: the reader comes back to another.
        While Redis or PostgreSQL is away nothing comes.

        Args:
            holds: False: it is cancelled for want of readers although this one reads.
        Raises:
            NotFound: the generation has ended, and its events are not kept any more.
        """
        while True:
            here = self._local.get(generation_id)
            is_here = here is not None and not here.log.lost
            batches = (
                _from_here(here, after, holds)
                if here is not None and is_here
                else self._from_elsewhere(generation_id, after, holds)
            )
            try:
                async for batch in batches:
                    yield batch
                    after = batch[-1].seq
                    if batch[-1].data == DONE:
                        return
            except _AllRead:
                return
            if self._local.draining:
                return
            if here is not None and is_here and here.log.complete:
                return  # the reader came back for what follows the last event

    async def _from_elsewhere(
        self, generation_id: UUID, after: int, holds: bool
    ) -> AsyncGenerator[list[Event], None]:
        """From another process' events; ends when the generation has failed over to this one."""
        seen = after
        async with self._follower.subscribe(generation_id, after, holds=holds) as subscription:
            while True:
                batch = await subscription.next_batch(_IDLE_S)
                if batch:
                    yield batch
                    seen = batch[-1].seq
                    continue
                here = self._local.get(generation_id)
                if self._local.draining or (here is not None and not here.log.lost):
                    return
                try:
                    last = await self._check_coming(generation_id, after, seen)
                except SERVICES_AWAY as error:
                    log.warning("reader_waits_for_services", error=str(error))
                    continue
                if last:
                    yield last
                    return

    async def _check_coming(self, generation_id: UUID, after: int, seen: int) -> list[Event]:
        """The last events, for a reader beyond the end of the stream; [] when others are to come.

        What a reader here has seen can be withdrawn, when the process that wrote it had lost
        Redis (finish/finalize.py): the stream ends before the reader's place then, with an error
        and `[DONE]`.

        Args:
            after: where the reader began; `seen`: the last event that it has.
        Raises:
            _AllRead: the reader came back for what follows the last event.
            NotFound: no more events can come.
        """

        def is_open() -> bool:
            row = Generation.objects.filter(pk=generation_id).first()
            return row is not None and row.is_open

        if await in_database(is_open):
            return []
        # Asked before the events are read: a stream ends under its lease, so what is not there
        # once nobody has the generation in hand will never be.
        [in_hand] = await self._leases.in_hand([generation_id])
        entries = await self._leases.entries(generation_id)
        if entries and entries[-1].data == DONE and seen >= len(entries):
            if seen == after:
                raise _AllRead
            return [Event(seen + n, *entry) for n, entry in enumerate(entries[-2:], start=1)]
        if in_hand or (entries and entries[-1].data == DONE):
            return []  # on their way
        raise NotFound(
            "The events of this generation are not kept any more. Read its message instead.",
            code="events_expired",
        )


class _AllRead(Exception):
    """The reader came back for what follows the last event: there is nothing."""


async def _from_here(
    here: LocalGeneration, after: int, holds: bool
) -> AsyncGenerator[list[Event], None]:
    if holds:
        here.attach()
    try:
        async for batch in here.log.read(after):
            yield batch
    finally:
        if holds:
            here.detach()
