"""Commands of many requests over one connection to Redis, without waiting for each other.

An admission and its end ask Redis eight times. Through redis-py's client each of these takes a
connection out of the pool, writes, sets a timer, waits for its own answer and gives the connection
back: 150 to 250 µs of CPU. Here a command is written at once, whatever was asked before, and
answers are handed out in the order in which Redis gives them. One that fails, fails alone; a
connection that breaks, breaks for all that wait for it, and the next command opens another.

redis-py opens the connection, `redis_link` reads it. A cluster has no one connection: its client's
pipelines serve there.
"""

import asyncio
import contextvars
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from hashlib import sha1
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import NoScriptError
from redis.exceptions import TimeoutError as RedisTimeoutError

from backend.platform.redis import REQUESTS, Profile, async_client
from backend.platform.redis_link import RedisLink

_MAX_COMMANDS = 256
"""Of one pipeline to a cluster: it serves others in between."""

_MAX_TRIPS = 4
"""To a cluster, under way at once: with one, each command of an admission would wait for another's.
"""

_Asked = tuple[tuple[Any, ...], asyncio.Future[Any]]


class _Way(Protocol):
    """How commands get to Redis."""

    def ask(self, command: tuple[Any, ...], answer: asyncio.Future[Any]) -> None:
        """Send `command`, now or soon, and have `answer` done in every case."""


class Batch:
    """What goes to one client of one event loop. Not for commands that block."""

    def __init__(self, redis: Redis) -> None:
        pool = getattr(redis, "connection_pool", None)
        self._way: _Way = _Pipelines(redis) if pool is None else _OneConnection(pool)

    async def execute(self, *command: Any) -> Any:
        """The answer to `command`. Raises RedisError, OSError."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._way.ask(command, answer)
        return await answer

    async def execute_all(self, *commands: tuple[Any, ...]) -> list[Any]:
        """The answers to `commands`, which go out together, in their order. The first that failed
        is raised."""
        loop = asyncio.get_running_loop()
        asked = [(command, loop.create_future()) for command in commands]
        for command, answer in asked:
            self._way.ask(command, answer)
        found = await asyncio.gather(*(answer for _, answer in asked), return_exceptions=True)
        for reply in found:
            if isinstance(reply, BaseException):
                raise reply
        return found

    def script(self, text: str) -> Callable[..., Awaitable[Any]]:
        """A Lua script: call it with `keys` and `args`."""
        digest = sha1(text.encode(), usedforsecurity=False).hexdigest()
        return partial(self._run, text, digest)

    async def _run(
        self, text: str, digest: str, *, keys: Sequence[Any], args: Sequence[Any]
    ) -> Any:
        try:
            return await self.execute("EVALSHA", digest, len(keys), *keys, *args)
        except NoScriptError:
            return await self.execute("EVAL", text, len(keys), *keys, *args)


class _OneConnection:
    """To one server; kept while nothing is asked, until it breaks.

    A command that is the first after a silence may find that the server has closed the connection
    meanwhile, before the event loop has heard of it: nothing is lost then but the connection, and
    what was asked is sent again.
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._timeout_s: float | None = pool.connection_kwargs.get("socket_timeout")
        self._connection: AbstractConnection | None = None
        self._link: RedisLink | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._unsent: list[_Asked] = []
        self._sent: deque[tuple[float, _Asked]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._was_idle = self._may_be_closed = False

    def ask(self, command: tuple[Any, ...], answer: asyncio.Future[Any]) -> None:
        self._unsent.append((command, answer))
        if self._link is not None:
            self._send(self._link)
        elif self._connecting is None:
            self._connect_soon()

    def _connect_soon(self) -> None:
        loop = asyncio.get_running_loop()
        self._connecting = loop.create_task(self._connect(), context=contextvars.Context())

    async def _connect(self) -> None:
        try:
            self._connection = await self._pool.get_connection()
            self._link = RedisLink(self._connection, self._on_reply, self._on_lost)
        except asyncio.CancelledError:  # the process is going
            self._fail(None)
            raise
        except Exception as error:
            self._fail(error)
        else:
            self._was_idle = False
            self._send(self._link)
        finally:
            self._connecting = None

    def _send(self, link: RedisLink) -> None:
        now = asyncio.get_running_loop().time()
        if not self._sent:
            self._may_be_closed = self._was_idle
        packed: list[bytes] = []
        unsent, self._unsent = self._unsent, []
        for asked in unsent:
            try:
                packed.append(hiredis.pack_command(asked[0]))
            except Exception as error:  # an argument that is none; it fails alone
                _resolve(asked[1], error)
                continue
            self._sent.append((now, asked))
        link.write(packed[0] if len(packed) == 1 else b"".join(packed))
        if self._timer is None and self._timeout_s is not None and self._sent:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._timeout_s, self._look)

    def _on_reply(self, reply: Any) -> None:
        self._may_be_closed = False
        if self._sent:
            _resolve(self._sent.popleft()[1][1], reply)
        self._was_idle = self._was_idle or not self._sent

    def _on_lost(self, error: Exception) -> None:
        if not self._may_be_closed:
            self._fail(error)
            return
        self._may_be_closed = False
        self._unsent = [asked for _, asked in self._sent] + self._unsent
        self._sent.clear()
        self._drop()
        if self._unsent:
            self._connect_soon()

    def _look(self) -> None:
        """One timer for all that wait, not one a command."""
        self._timer = None
        if not self._sent or self._timeout_s is None:
            return
        loop = asyncio.get_running_loop()
        left = self._sent[0][0] + self._timeout_s - loop.time()
        if left > 0:
            self._timer = loop.call_later(left, self._look)
        else:
            self._fail(RedisTimeoutError("Redis did not answer in time."))

    def _fail(self, error: Exception | None) -> None:
        """Answer all that wait: with `error`, or by cancelling them."""
        waiting = [asked for _, asked in self._sent] + self._unsent
        self._sent.clear()
        self._unsent = []
        self._drop()
        for _, answer in waiting:
            if error is None:
                answer.cancel()
            else:
                _resolve(answer, error)

    def _drop(self) -> None:
        """Give up the connection as it is: answers may still come over it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        link, self._link = self._link, None
        connection, self._connection = self._connection, None
        if link is not None:
            link.abort()
        if connection is None:
            return
        connection.mark_for_reconnect()
        releasing = self._pool.release(connection)
        task = asyncio.get_running_loop().create_task(releasing, context=contextvars.Context())
        _closing.add(task)
        task.add_done_callback(_closing.discard)


_closing: set[asyncio.Task[None]] = set()


def _resolve(answer: asyncio.Future[Any], reply: Any) -> None:
    if answer.done():
        return  # its caller has left
    if isinstance(reply, BaseException):
        answer.set_exception(reply)
    else:
        answer.set_result(reply)


class _Pipelines:
    """To a cluster: what is asked for while a few round trips are under way goes out together with
    the next one; else a command goes out at once."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._asked: list[_Asked] = []
        self._trips = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, command: tuple[Any, ...], answer: asyncio.Future[Any]) -> None:
        self._asked.append((command, answer))
        if self._trips < _MAX_TRIPS:
            self._trips += 1
            loop = asyncio.get_running_loop()
            task = loop.create_task(self._send(), context=contextvars.Context())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _send(self) -> None:
        sent: list[_Asked] = []
        try:
            while self._asked:
                sent, self._asked = self._asked[:_MAX_COMMANDS], self._asked[_MAX_COMMANDS:]
                await self._round_trip([one for one in sent if not one[1].done()])
        finally:
            # Before anybody else can ask: a task that is over must not count.
            self._trips -= 1
            for _, answer in sent:
                answer.cancel()  # only where this task was: the process is going

    async def _round_trip(self, sent: list[_Asked]) -> None:
        if not sent:
            return
        answers: Iterable[Any]
        try:
            if len(sent) == 1:
                answers = [await self._redis.execute_command(*sent[0][0])]
            else:
                async with self._redis.pipeline(transaction=False) as pipeline:
                    for command, _ in sent:
                        pipeline.execute_command(*command)
                    answers = await pipeline.execute(raise_on_error=False)
        except Exception as error:
            answers = [error] * len(sent)
        for (_, future), answer in zip(sent, answers, strict=True):
            _resolve(future, answer)


_batches: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Profile, Batch]] = WeakKeyDictionary()


def async_batch(profile: Profile = REQUESTS) -> Batch:
    """The running event loop's, over its `async_client`."""
    batches = _batches.setdefault(asyncio.get_running_loop(), {})
    if profile not in batches:
        batches[profile] = Batch(async_client(profile))
    return batches[profile]
