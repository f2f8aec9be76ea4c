"""A connection to Redis that is read by callbacks, for one that is shared (`redis_batch`).

redis-py opens it (address, Sentinels, TLS, password) and reads an answer only in a task that waits
for it. Where many commands of others are under way, such a task, and a stream reader under it, cost
more than the command. So what redis-py has opened gets another protocol here; closing it is
redis-py's again.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import hiredis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import InvalidResponse

_INCOMPLETE = object()


class RedisLink(asyncio.Protocol):
    """One open connection.

    Args:
        connection: just opened, so nothing is to be read of it.
        on_reply: is called with each answer, in their order; what Redis refuses is an exception.
        on_lost: is called once, when no more answers will come.

    Raises:
        ConnectionError: it has just been closed.
    """

    def __init__(
        self,
        connection: AbstractConnection,
        on_reply: Callable[[Any], None],
        on_lost: Callable[[Exception], None],
    ) -> None:
        # redis-py has no public way to its transport, nor to the errors that it makes of replies.
        parts: Any = connection
        if parts._writer is None:
            raise RedisConnectionError("Redis closed a connection that was just opened.")
        self._transport: asyncio.Transport = parts._writer.transport
        self._on_reply = on_reply
        self._on_lost: Callable[[Exception], None] | None = on_lost
        self._replies = hiredis.Reader(
            protocolError=InvalidResponse,
            replyError=parts._parser.parse_error,
            notEnoughData=_INCOMPLETE,
        )
        self._redis_py: asyncio.BaseProtocol = self._transport.get_protocol()
        self._transport.set_protocol(self)

    def write(self, commands: bytes) -> None:
        """`commands` as they are; their answers come in their order."""
        self._transport.write(commands)

    def abort(self) -> None:
        """Give it up: nothing is called any more."""
        self._on_lost = None
        self._transport.abort()

    # asyncio.Protocol

    def data_received(self, data: bytes) -> None:
        self._replies.feed(data)
        while self._on_lost is not None:
            try:
                reply = self._replies.gets()
            except InvalidResponse as error:
                reply = RedisConnectionError(f"This is not Redis' protocol: {error}")
            if reply is _INCOMPLETE:
                return
            if isinstance(reply, RedisConnectionError):  # as "LOADING": it serves nobody now
                self._lose(reply)
            elif not isinstance(reply, hiredis.PushNotification):
                self._on_reply(reply)

    def connection_lost(self, exc: Exception | None) -> None:
        self._redis_py.connection_lost(exc)  # it may be waiting for that, to close it
        self._lose(exc or RedisConnectionError("Redis closed the connection."))

    def _lose(self, error: Exception) -> None:
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            on_lost(error)
