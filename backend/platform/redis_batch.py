"""Commands of many requests over one connection to Redis, without waiting for each other.

An admission and its end ask Redis eight times. Through redis-py's client each of these takes a
connection out of the pool, writes, sets a timer, waits for its own answer and gives the connection
back: 150 to 250 µs of CPU. Here a command is written at once, whatever was asked before, with all
others of the same turn of the event loop; answers are handed out in the order in which Redis gives
them. One that fails, fails alone; a connection that breaks, breaks for all that wait for it, and
the next command opens another.

redis-py opens the connection (address, Sentinels, TLS, password), and what comes over it is read
here. A cluster has no one connection: its client's pipelines serve there.
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
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import InvalidResponse, NoScriptError
from redis.exceptions import TimeoutError as RedisTimeoutError

from backend.platform.redis import REQUESTS, Profile, async_client

_MAX_COMMANDS = 256
"""Of one pipeline to a cluster: it serves others in between."""

_MAX_TRIPS = 4
"""To a cluster, under way at once: with one, each command of an admission would wait for another's.
"""

_NO_REPLY_YET = object()

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
    """To one server. The connection is kept, and one that the server closes while it is idle is
    given up at once."""

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._timeout_s: float | None = pool.connection_kwargs.get("socket_timeout")
        self._loop = asyncio.get_running_loop()
        self._open: _Replies | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._unsent: list[_Asked] = []
        self._sent: deque[tuple[float, _Asked]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._is_about_to_send = False
        # Whether what is under way may be sent again over another connection: it went over one
        # that had been kept idle, and nothing has come since.
        self._may_be_stale = False

    def ask(self, command: tuple[Any, ...], answer: asyncio.Future[Any]) -> None:
        self._unsent.append((command, answer))
        if self._open is None:
            self._begin_to_connect()
        elif not self._is_about_to_send:
            self._is_about_to_send = True
            self._loop.call_soon(self._send)

    def _begin_to_connect(self) -> None:
        if self._connecting is None:
            connect = self._connect()
            self._connecting = self._loop.create_task(connect, context=contextvars.Context())

    async def _connect(self) -> None:
        try:
            self._open = _Replies(await self._pool.get_connection(), self._take, self._lost)
            self._send()
        except asyncio.CancelledError:  # the process is going
            for _, answer in self._unsent:
                answer.cancel()
            self._unsent = []
            raise
        except Exception as error:
            self._fail(error)
        finally:
            self._connecting = None

    def _send(self) -> None:
        """Write what was asked."""
        self._is_about_to_send = False
        if self._open is None:
            return  # it has just broken; what was asked waits for the next one
        unsent, self._unsent = self._unsent, []
        if not self._sent:
            self._may_be_stale = self._open.was_used
        self._open.was_used = True
        packed: list[bytes] = []
        now = self._loop.time()
        for asked in unsent:
            try:
                packed.append(hiredis.pack_command(asked[0]))
            except Exception as error:  # an argument that is none; it fails alone
                _resolve(asked[1], error)
                continue
            self._sent.append((now, asked))
        if packed:
            self._open.transport.write(b"".join(packed))
        if self._timer is None and self._timeout_s is not None and self._sent:
            self._timer = self._loop.call_later(self._timeout_s, self._look)

    def _take(self, reply: Any) -> None:
        self._may_be_stale = False
        if self._sent:
            _resolve(self._sent.popleft()[1][1], reply)

    def _lost(self, error: Exception) -> None:
        """The connection has ended, or what comes over it cannot be read."""
        if self._sent and not self._may_be_stale:
            self._fail(error)
            return
        self._unsent = [asked for _, asked in self._sent] + self._unsent
        self._sent.clear()
        self._drop()
        if self._unsent:
            self._begin_to_connect()

    def _look(self) -> None:
        """One timer for all that wait, not one a command."""
        self._timer = None
        if not self._sent or self._timeout_s is None:
            return
        left = self._sent[0][0] + self._timeout_s - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self._fail(RedisTimeoutError("Redis did not answer in time."))

    def _fail(self, error: Exception) -> None:
        """Answer all that wait with `error`, and give the connection up."""
        waiting = [asked for _, asked in self._sent] + self._unsent
        self._sent.clear()
        self._unsent = []
        for _, answer in waiting:
            _resolve(answer, error)
        self._drop()

    def _drop(self) -> None:
        """Give up the connection as it is: answers may still come over it."""
        given_up, self._open = self._open, None
        if given_up is None:
            return
        given_up.is_given_up = True
        given_up.connection.mark_for_reconnect()
        releasing = self._pool.release(given_up.connection)
        task = self._loop.create_task(releasing, context=contextvars.Context())
        _closing.add(task)
        task.add_done_callback(_closing.discard)


class _Replies(asyncio.Protocol):
    """What comes over a connection that redis-py has opened, in the place of its own protocol: a
    reply costs a callback, where redis-py's way of reading one is nine coroutines deep.

    Attributes:
        was_used: something has been sent over it.
        is_given_up: nobody waits for what still comes.

    Args:
        take: called with each reply; one that is an exception is the server's refusal.
        lost: called once nothing more can come.
    """

    def __init__(
        self,
        connection: AbstractConnection,
        take: Callable[[Any], None],
        lost: Callable[[Exception], None],
    ) -> None:
        opened: Any = connection  # what redis-py keeps to itself
        self.connection = connection
        self.transport: asyncio.Transport = opened._writer.transport
        self.was_used = self.is_given_up = False
        self._take, self._lost = take, lost
        self._reader = hiredis.Reader(
            protocolError=InvalidResponse,
            replyError=opened._parser.parse_error,
            notEnoughData=_NO_REPLY_YET,
        )
        self._before: Any = self.transport.get_protocol()
        self.transport.set_protocol(self)

    def data_received(self, data: bytes) -> None:
        if self.is_given_up:
            return
        self._reader.feed(data)
        try:
            while (reply := self._reader.gets()) is not _NO_REPLY_YET:
                if not isinstance(reply, hiredis.PushNotification):
                    self._take(reply)
        except InvalidResponse as error:
            self._lost(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._before.connection_lost(exc)  # redis-py waits for that when it closes one
        if not self.is_given_up:
            self._lost(exc or RedisConnectionError("Redis closed the connection."))


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
