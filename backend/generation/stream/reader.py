"""Reads a generation's events, wherever it runs, also when that changes meanwhile."""

from collections.abc import AsyncGenerator
from uuid import UUID

from backend.generation.models import Generation
from backend.generation.process import Process
from backend.generation.request import DONE, Event
from backend.generation.run.active import LiveGeneration
from backend.platform.database import in_database
from backend.platform.errors import NotFound

# After so long without an event from another process, see whether there will be any.
_IDLE_S = 2.0


async def read_events(
    process: Process, generation_id: UUID, *, after: int
) -> AsyncGenerator[list[Event], None]:
    """The events after `after`, in batches, `[DONE]` last.

    Ends without `[DONE]` only when this process is going: the reader comes back to another one.

    Raises:
        NotFound: the generation has ended, and its events are not kept any more.
    """
    while True:
        live = process.live.get(generation_id)
        local = live is not None and not live.log.lost
        batches = (
            _local(live, after)
            if live is not None and local
            else _remote(process, generation_id, after)
        )
        try:
            async for batch in batches:
                yield batch
                after = batch[-1].seq
                if batch[-1].data == DONE:
                    return
        except _AllRead:
            return
        if process.draining:
            return
        if live is not None and local and live.log.complete:
            return  # the reader came back for what follows the last event


async def _local(live: LiveGeneration, after: int) -> AsyncGenerator[list[Event], None]:
    live.attach()
    try:
        async for batch in live.log.read(after):
            yield batch
    finally:
        live.detach()


async def _remote(
    process: Process, generation_id: UUID, after: int
) -> AsyncGenerator[list[Event], None]:
    """From another process' events; ends when this process has taken the generation up."""
    seen = after
    async with process.follower.subscribe(generation_id, after) as subscription:
        while True:
            batch = await subscription.next_batch(_IDLE_S)
            if batch:
                yield batch
                seen = batch[-1].seq
                continue
            live = process.live.get(generation_id)
            if process.draining or (live is not None and not live.log.lost):
                return
            if last := await _check_coming(process, generation_id, after, seen):
                yield last
                return


class _AllRead(Exception):
    """The reader came back for what follows the last event: there is nothing."""


async def _check_coming(
    process: Process, generation_id: UUID, after: int, seen: int
) -> list[Event]:
    """The last events, for a reader beyond the end of the stream; [] when others are to come.

    What a reader here has seen can be withdrawn, when the process that wrote it had lost Redis
    (finalize.py): the stream ends before the reader's place then, with an error and `[DONE]`.

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
    entries = await process.leases.entries(generation_id)
    if entries and entries[-1].data == DONE and seen >= len(entries):
        if seen == after:
            raise _AllRead
        return [Event(seen + n, entry.data) for n, entry in enumerate(entries[-2:], start=1)]
    [in_hand] = await process.leases.in_hand([generation_id])
    if in_hand or (entries and entries[-1].data == DONE):
        return []  # on their way
    raise NotFound(
        "The events of this generation are not kept any more. Read its message instead.",
        code="events_expired",
    )
