"""Ends what is open when its caller loses access: streams and WebSockets, within seconds.

One task of each process asks the database about all of them at once, so nothing is asked for each
token or socket. It runs only while something is open.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID
from weakref import WeakKeyDictionary

import structlog

from backend.accounts.access import Access, access_ended
from backend.platform.database import in_database

CHECK_INTERVAL_S = 4.0

log = structlog.get_logger(__name__)


class AccessWatch:
    """What is open in this process, by whom."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[Access, Callable[[], None]]] = {}
        self._numbers = itertools.count()
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def watching(self, access: Access, end: Callable[[], None]) -> Iterator[None]:
        """Call `end` on the event loop, once, when `access` ends while this is entered."""
        number = next(self._numbers)
        self._open[number] = (access, end)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            self._open.pop(number, None)

    def count_sockets(self, user_id: UUID) -> int:
        """How many sockets of a user are open here."""
        return sum(
            a.user_id == user_id and a.session_key is not None for a, _ in self._open.values()
        )

    async def _run(self) -> None:
        while self._open:
            await asyncio.sleep(CHECK_INTERVAL_S)
            try:
                await self._check()
            except Exception:  # the database is away, say: what is open stays open meanwhile
                log.exception("access_not_checked")

    async def _check(self) -> None:
        ended = await in_database(access_ended, {access for access, _ in self._open.values()})
        for number, (access, end) in list(self._open.items()):
            if access in ended:
                del self._open[number]
                end()


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, AccessWatch] = WeakKeyDictionary()


def access_watch() -> AccessWatch:
    """The running event loop's."""
    return _watches.setdefault(asyncio.get_running_loop(), AccessWatch())
