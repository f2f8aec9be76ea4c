"""The one way to hold a name alone in all processes: redis-py's `Lock`, which has a token.

A lock lapses `ttl_s` after its process stops renewing it, so a process that stalls can come back
when another one holds the name. The token makes sure that it then neither prolongs nor frees
what is not its own; what it does besides must be fenced where it is stored.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import structlog
from redis.asyncio.lock import Lock
from redis.exceptions import LockError, LockNotOwnedError, RedisError

from backend.platform.redis import async_client

log = structlog.get_logger(__name__)

# A lock is renewed so many times in its lifetime: two renewals may fail before it lapses.
_RENEWALS_IN_TTL = 3


class RenewedLock:
    """A named lock, for one holder and once: taken, renewed while work is done, given back.

    Attributes:
        token: of this holder alone; what it stores can carry it, as a fence.
    """

    def __init__(self, name: str, *, ttl_s: float) -> None:
        # thread_local would keep the token in the thread that took it; a task has none.
        self._lock = Lock(async_client(), name, timeout=ttl_s, thread_local=False)
        self._ttl_s = ttl_s
        self.token = uuid4().hex

    async def take(self) -> bool:
        """Whether it is ours now; False while another holds it. Does not wait.

        Raises:
            RedisError: Redis did not answer.
        """
        return await self._lock.acquire(blocking=False, token=self.token)

    async def give_back(self) -> None:
        """Free it if it is still ours. A second call does nothing; no call fails: a lock that
        cannot be given back lapses."""
        try:
            await self._lock.release()
        except LockError:
            pass  # given back before, or lapsed: it may be another's by now
        except (RedisError, OSError) as error:
            log.warning("lock_not_given_back", error=type(error).__name__)

    @asynccontextmanager
    async def renewed(self) -> AsyncIterator[None]:
        """Keeps it from lapsing while the body runs, as long as this process makes progress."""
        renewal = asyncio.create_task(self._renew())
        try:
            yield
        finally:
            renewal.cancel()

    async def _renew(self) -> None:
        while True:
            try:
                await self._lock.reacquire()
            except LockNotOwnedError:
                log.warning("lock_lost", name=self._lock.name)
                return
            except LockError:
                return  # given back while the body still runs
            except (RedisError, OSError) as error:
                log.warning("lock_not_renewed", error=type(error).__name__)
            await asyncio.sleep(self._ttl_s / _RENEWALS_IN_TTL)
