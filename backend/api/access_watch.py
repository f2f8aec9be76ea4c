"""Ends what is open when its caller loses access: streams and WebSockets, within seconds.

Their organization may also begin to refuse the caller's address, or their session.

One task of each process asks the database about all of them at once, so nothing is asked for each
token or socket. It runs only while something is open.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID
from weakref import WeakKeyDictionary

import structlog

from backend.accounts.access import Access, access_ended
from backend.enterprise.gate import Door
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied

CHECK_INTERVAL_S = 3.0

Ends = Callable[[PermissionDenied | None], None]
"""Called on the event loop, once: with the organization's refusal, or None where access ended."""


@dataclass(frozen=True, slots=True)
class _Open:
    access: Access
    end: Ends
    door: Door | None


log = structlog.get_logger(__name__)


class AccessWatch:
    """What is open in this process, by whom."""

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}
        self._numbers = itertools.count()
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def watching(self, access: Access, end: Ends, *, door: Door | None = None) -> Iterator[None]:
        """Call `end` when `access` ends while this is entered, or `door` refuses them."""
        number = next(self._numbers)
        self._open[number] = _Open(access, end, door)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._open.pop(number, None)

    def count_sockets(self, user_id: UUID) -> int:
        """How many sockets of a user are open here."""
        return sum(
            one.access.user_id == user_id and one.access.session_key is not None
            for one in self._open.values()
        )

    async def _run(self) -> None:
        while self._open:
            await asyncio.sleep(CHECK_INTERVAL_S)
            try:
                await self._check()
            except Exception:  # the database is away, say: what is open stays open meanwhile
                log.exception("access_not_checked")

    async def _check(self) -> None:
        ended = await in_database(access_ended, {one.access for one in self._open.values()})
        for number, one in list(self._open.items()):
            has_ended = one.access in ended
            refusal = await one.door.refusal() if one.door and not has_ended else None
            if (has_ended or refusal) and number in self._open:
                del self._open[number]
                one.end(refusal)


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, AccessWatch] = WeakKeyDictionary()


def access_watch() -> AccessWatch:
    """The running event loop's."""
    return _watches.setdefault(asyncio.get_running_loop(), AccessWatch())
