"""Commands of many requests in one round trip to Redis.

A round trip through redis-py costs about as much CPU for one command as for ten, and an admission
makes eight. What is asked for while a few round trips are under way goes out together with the
next one; else a command goes out at once. One that fails, fails alone; a connection that breaks,
breaks for all that were sent over it.
"""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from hashlib import sha1
from typing import Any
from weakref import WeakKeyDictionary

from redis.asyncio import Redis
from redis.exceptions import NoScriptError

from backend.platform.redis import REQUESTS, Profile, async_client

_MAX_COMMANDS = 256
"""Of one round trip: Redis serves others in between."""

_MAX_TRIPS = 4
"""Under way at once: with one, each command of an admission would wait for another's."""

_Asked = tuple[tuple[Any, ...], asyncio.Future[Any]]


class Batch:
    """What goes to one client of one event loop. Not for commands that block."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._asked: list[_Asked] = []
        self._trips = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def execute(self, *command: Any) -> Any:
        """The answer to `command`. Raises RedisError, OSError."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        self._asked.append((command, answer))
        if self._trips < _MAX_TRIPS:
            self._trips += 1
            task = loop.create_task(self._send(), context=contextvars.Context())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await answer

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
            if future.done():
                continue
            if isinstance(answer, Exception):
                future.set_exception(answer)
            else:
                future.set_result(answer)


_batches: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Profile, Batch]] = WeakKeyDictionary()


def async_batch(profile: Profile = REQUESTS) -> Batch:
    """The running event loop's, over its `async_client`."""
    batches = _batches.setdefault(asyncio.get_running_loop(), {})
    if profile not in batches:
        batches[profile] = Batch(async_client(profile))
    return batches[profile]
