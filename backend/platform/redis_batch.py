"""Commands of many requests over one connection to Redis, without waiting for each other.

An admission and its end ask Redis eight times. Through redis-py's client each of these takes a
connection out of the pool, writes, sets a timer, waits for its own answer and gives the connection
back: 150 to 250 µs of CPU. Here a command is written at once, whatever was asked before, with all
others of the same turn of the event loop; answers are handed out in the order in which Redis gives
them. One that fails, fails alone; a connection that breaks, breaks for all that wait for it, and
the next command opens another.

redis-py opens the connection (address, Sentinels, TLS, password) and reads the answers. A cluster
has no one connection: its client's pipelines serve there.
"""

import asyncio
import contextvars
import math
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha1
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import hiredis
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from backend.platform.redis import REQUESTS, Profile, async_client

_MAX_COMMANDS = 256
"""Of one pipeline to a cluster: it serves others in between."""

_MAX_TRIPS = 4
"""To a cluster, under way at once: with one, each command of an admission would wait for another's.
"""

_CANCELLED_AGAIN_S = 0.5

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
    """To one server.

    A task reads while there are answers to come, and ends with the last of them; the connection is
    kept for the next command. One that the server has closed meanwhile is found out before it is
    used (`ensure_connection`).
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._timeout_s: float | None = pool.connection_kwargs.get("socket_timeout")
        self._connection: AbstractConnection | None = None
        self._is_open = False
        self._unsent: list[_Asked] = []
        self._sent: deque[tuple[float, _Asked]] = deque()
        self._reading: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_late = self._is_about_to_send = False

    def ask(self, command: tuple[Any, ...], answer: asyncio.Future[Any]) -> None:
        self._unsent.append((command, answer))
        loop = asyncio.get_running_loop()
        if self._reading is None:
            self._reading = loop.create_task(self._read(), context=contextvars.Context())
        elif self._is_open and not self._is_about_to_send:
            self._is_about_to_send = True
            loop.call_soon(self._send_soon)

    def _send_soon(self) -> None:
        self._is_about_to_send = False
        if self._is_open and self._unsent:  # else the reading task sends, or has sent
            with suppress(RedisConnectionError):  # which the reading task is about to hear
                self._send()

    def _send(self) -> None:
        """Write what was asked. redis-py itself can only write and wait.

        Raises:
            ConnectionError: the connection has just broken.
        """
        writer: asyncio.StreamWriter | None = getattr(self._connection, "_writer", None)
        if writer is None:
            raise RedisConnectionError("The connection to Redis was closed.")
        loop = asyncio.get_running_loop()
        unsent, self._unsent = self._unsent, []
        packed: list[bytes] = []
        for asked in unsent:
            try:
                packed.append(hiredis.pack_command(asked[0]))
            except Exception as error:  # an argument that is none; it fails alone
                _resolve(asked[1], error)
                continue
            self._sent.append((loop.time(), asked))
        writer.write(b"".join(packed))
        if self._timer is None and self._timeout_s is not None and self._sent:
            self._timer = loop.call_later(self._timeout_s, self._look)

    async def _read(self) -> None:
        try:
            while not await self._answer_all():
                pass
        except asyncio.CancelledError:
            if not self._is_late:  # the process is going
                self._fail(None)
                raise
            self._fail(RedisTimeoutError("Redis did not answer in time."))
        except Exception as error:
            self._fail(error)
        finally:
            self._is_open = self._is_late = False
            self._reading = None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    async def _answer_all(self) -> bool:
        """False where the server had closed the connection while it was idle, as the first command
        finds out: nothing is lost then but the connection, and all are to be sent again."""
        was_kept, has_answered = self._connection is not None, False
        try:
            await self._open()
            while self._sent or self._unsent:
                if self._unsent:
                    self._send()
                if not self._sent:
                    break  # nothing of it could be sent
                reply = await self._reply()
                has_answered = True
                _resolve(self._sent.popleft()[1][1], reply)
        except (RedisConnectionError, OSError):
            if has_answered or not was_kept:
                raise
            self._unsent = [asked for _, asked in self._sent] + self._unsent
            self._sent.clear()
            self._drop()
            return False
        return True

    async def _open(self) -> None:
        if self._connection is None:
            self._connection = await self._pool.get_connection()
        else:
            await self._pool.ensure_connection(self._connection)
        self._is_open = True

    async def _reply(self) -> Any:
        assert self._connection is not None
        try:
            return await self._connection.read_response(timeout=math.inf)
        except ResponseError as error:
            return error

    def _look(self) -> None:
        """One timer for all that wait, not one a command."""
        self._timer = None
        if not self._sent or self._timeout_s is None or self._reading is None:
            return
        loop = asyncio.get_running_loop()
        left = self._sent[0][0] + self._timeout_s - loop.time()
        if left > 0:
            self._timer = loop.call_later(left, self._look)
            return
        self._is_late = True
        self._reading.cancel()
        # Again, should redis-py swallow it: nothing else would end the waiting.
        self._timer = loop.call_later(_CANCELLED_AGAIN_S, self._look)

    def _fail(self, error: BaseException | None) -> None:
        """Answer all that wait: with `error`, or by cancelling them."""
        waiting = [asked for _, asked in self._sent] + self._unsent
        self._sent.clear()
        self._unsent = []
        for _, answer in waiting:
            if error is None:
                answer.cancel()
            else:
                _resolve(answer, error)
        if error is not None:
            self._drop()

    def _drop(self) -> None:
        """Give up the connection as it is: answers may still come over it."""
        self._is_open = False
        connection, self._connection = self._connection, None
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
