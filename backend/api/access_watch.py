"""Ends what is open when its caller loses access: streams and WebSockets, within seconds.

A socket's organization may also begin to refuse the socket's address, or its session.

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
from backend.accounts.principal import Principal
from backend.enterprise.gate import require_gate
from backend.platform.database import in_database
from backend.platform.errors import PermissionDenied

CHECK_INTERVAL_S = 4.0


@dataclass(frozen=True, slots=True)
class Door:
    """What `require_gate` asks of whoever opened a socket; `shut` is called where it refuses."""

    principal: Principal
    address: str
    sso_organization: str | None
    shut: Callable[[], None]

    async def is_open(self) -> bool:
        """Whether they would be let in now."""
        try:
            await require_gate(
                self.principal, address=self.address, sso_organization=self.sso_organization
            )
        except PermissionDenied:
            return False
        return True


@dataclass(frozen=True, slots=True)
class _Open:
    access: Access
    end: Callable[[], None]
    door: Door | None


log = structlog.get_logger(__name__)


class AccessWatch:
    """What is open in this process, by whom."""

    def __init__(self) -> None:
        self._open: dict[int, _Open] = {}
        self._numbers = itertools.count()
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def watching(
        self, access: Access, end: Callable[[], None], *, door: Door | None = None
    ) -> Iterator[None]:
        """Call `end` on the event loop, once, when `access` ends while this is entered, or
        `door.shut` when the door does."""
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
            is_shut = one.door is not None and not await one.door.is_open()
            if (one.access in ended or is_shut) and number in self._open:
                del self._open[number]
                (one.door.shut if one.door and is_shut else one.end)()


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, AccessWatch] = WeakKeyDictionary()


def access_watch() -> AccessWatch:
    """The running event loop's."""
    return _watches.setdefault(asyncio.get_running_loop(), AccessWatch())
