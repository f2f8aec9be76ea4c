"""HTTP/1.1 to one origin: a protocol on asyncio and httptools, and a pool of idle connections.

Why not httpx: reading a token stream through it costs several times the CPU of everything else
that the gateway does with a token (docs/benchmarks/gateway.md, "The upstream client"). This does
the little that is needed: one request at a time on a connection, bodies with a length or chunked,
keep-alive, TLS, and closing a connection to abort what runs at its other end.
"""

import asyncio
import os
import ssl
from ipaddress import ip_address
from typing import cast
from urllib.parse import urlsplit

import httptools

from backend.generation.pools.errors import ReplicaUnavailable
from backend.generation.pools.pace import Pace

_IDLE_PER_ORIGIN = 64
_CONNECT_TIMEOUT_S = 3.0
# Of a connection that is polled, at a time.
_MAX_POLL_BYTES = 65_536


class Response:
    """The answer to one request. Read it to the end, or `abort()` it.

    Attributes:
        status: HTTP status.
        headers: names in lower case.
    """

    def __init__(self, connection: "Connection") -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self._connection = connection
        self._received: list[bytes] = []
        self._complete = False
        self._lost: str | None = None
        self._wake: asyncio.Future[None] | None = None
        self._pace: Pace | None = None
        self._is_due = self._is_polled = False
        self._loop = asyncio.get_running_loop()
        self._silence: asyncio.TimerHandle | None = None
        self._received_at = 0.0
        self.head = self._loop.create_future()

    def set_pace(self, pace: Pace) -> None:
        """From now on hand out what arrives at this pace."""
        self._pace = pace
        pace.streams += 1

    def limit_silence(self, seconds: float) -> None:
        """Break the answer off when nothing arrives for so long from now on."""
        if self._complete or self._lost is not None:
            return  # the connection may be another answer's
        if self._silence is not None:
            self._silence.cancel()
        self._received_at = self._loop.time()
        self._watch_silence(seconds)

    async def read_some(self) -> bytes:
        """What has arrived, waiting for it; b"" at the end.

        Raises:
            ReplicaUnavailable: the connection broke before the end.
        """
        while not self._received:
            if self._complete:
                return b""
            if self._lost is not None:
                raise ReplicaUnavailable(self._lost)
            self._wake = self._loop.create_future()
            try:
                await self._wake
            finally:
                self._wake = None
        received, self._received, self._is_due = self._received, [], False
        return received[0] if len(received) == 1 else b"".join(received)

    async def read(self) -> bytes:
        """The whole body."""
        parts = []
        while part := await self.read_some():
            parts.append(part)
        return b"".join(parts)

    def abort(self) -> None:
        """Give up the answer. Unless it is complete, this closes the connection."""
        self._release()
        if not self._complete:
            self._connection.close()

    # Called by the connection.

    def on_head(self, status: int) -> None:
        self.status = status
        if not self.head.done():
            self.head.set_result(None)

    def on_data(self, data: bytes, now: float) -> None:
        self._received.append(data)
        self._received_at = now
        if self._pace is None:
            self._notify()
            return
        self._pace.arrived(now)
        if self._is_polled:
            return
        if not self._is_due:
            self._is_due = True
            self._pace.wake(self._notify)
        if self._pace.polls and self._connection.pause():
            self._is_polled = True
            self._pace.add_polled(self)

    def poll(self) -> None:
        """See `PolledStream`. Its end and its breaking wake by themselves."""
        self._connection.read_now()
        if self._received:
            self._notify()

    def end_polling(self) -> None:
        """See `PolledStream`."""
        self._is_polled = False
        self._connection.resume()

    def on_complete(self) -> None:
        self._complete = True
        self._release()
        self._notify()

    def on_lost(self, reason: str) -> None:
        if self._complete or self._lost is not None:
            return
        self._lost = reason
        self._release()
        if not self.head.done():
            self.head.set_exception(ReplicaUnavailable(reason))
            self.head.exception()  # the opener may be gone already: nothing to warn about
        self._notify()

    def _release(self) -> None:
        """Nothing more comes, or is wanted."""
        if self._pace is not None:
            self._pace.streams -= 1
            if self._is_polled:
                self._pace.remove_polled(self)
                self.end_polling()
            self._pace = None
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None

    def _watch_silence(self, seconds: float) -> None:
        """One timer a stream, not one a read: it looks when the last data came."""
        left = self._received_at + seconds - self._loop.time()
        if left > 0:
            self._silence = self._loop.call_later(left, self._watch_silence, seconds)
            return
        self.on_lost(f"silent for {seconds:.0f} s")
        self._connection.close()

    def _notify(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


class Connection(asyncio.Protocol):
    """One TCP or TLS connection; one request at a time."""

    def __init__(self, origin: "Origin") -> None:
        self._origin = origin
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._response: Response | None = None
        self._loop = asyncio.get_running_loop()
        self._descriptor = -1
        self.reused = False

    @property
    def usable(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def send(self, request: bytes) -> Response:
        assert self._transport is not None and self._response is None
        self._response = Response(self)
        self._transport.write(request)
        return self._response

    def close(self) -> None:
        if self._transport is not None:
            # abort(), not close(): nothing is left to send, and the engine should know at once.
            self._transport.abort()

    def pause(self) -> bool:
        """Have the event loop read no more, for `read_now`; False where it must (TLS)."""
        if self._transport is None or not self.usable:
            return False
        descriptor = self._transport.get_extra_info("socket")
        if descriptor is None or self._transport.get_extra_info("ssl_object") is not None:
            return False
        self._descriptor = descriptor.fileno()
        self._transport.pause_reading()
        return True

    def resume(self) -> None:
        """Undo `pause`."""
        if self._transport is not None and self.usable:
            self._transport.resume_reading()

    def read_now(self) -> None:
        """Take what has arrived since `pause`, without waiting."""
        if not self.usable:
            return
        try:
            data = os.read(self._descriptor, _MAX_POLL_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.data_received(data)
        else:
            self.resume()  # the event loop finds the same, and says what it means

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._origin.heard_at = self._loop.time()
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._lose(f"it does not speak HTTP: {error}")
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._origin.forget(self)
        self._lose(f"the connection broke: {exc}" if exc else "it closed the connection")

    def _lose(self, reason: str) -> None:
        response, self._response = self._response, None
        if response is not None:
            response.on_lost(f"{self._origin.url}: {reason}")

    # httptools

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._response is not None:
            self._response.headers[name.decode("latin1").lower()] = value.decode("latin1")

    def on_headers_complete(self) -> None:
        if self._response is not None:
            self._response.on_head(self._parser.get_status_code())

    def on_body(self, body: bytes) -> None:
        if self._response is not None:
            self._response.on_data(body, self._origin.heard_at)

    def on_message_complete(self) -> None:
        keep = self._parser.should_keep_alive()
        response, self._response = self._response, None
        if response is None or response.status < 200:
            self._response = response  # an interim answer (100 Continue): the real one follows
            return
        response.on_complete()
        self._parser = httptools.HttpResponseParser(self)
        if keep:
            self._origin.keep(self)
        else:
            self.close()


class Origin:
    """The connections to one `http(s)://host:port`.

    Attributes:
        is_local: what answers there runs on this machine.
        heard_at: when any of them last received something, by the loop's clock.
    """

    def __init__(self, url: str, *, ca_file: str = "") -> None:
        """
        Args:
            ca_file: certificates to trust beside the system's.
        """
        parts = urlsplit(url)
        self.url = url
        self.heard_at = 0.0
        self._host = parts.hostname or ""
        self.is_local = _is_loopback(self._host)
        self._tls = _tls_context(ca_file) if parts.scheme == "https" else None
        self._port = parts.port or (443 if self._tls else 80)
        self._host_header = parts.netloc.rpartition("@")[2]
        self._idle: list[Connection] = []
        self._open: set[Connection] = set()

    async def request(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        body: bytes = b"",
    ) -> Response:
        """Send a request and wait for the head of its answer.

        Raises:
            ReplicaUnavailable: no connection, or it broke before the answer began.
        """
        lines = [f"{method} {path} HTTP/1.1", f"host: {self._host_header}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if body or method == "POST":
            lines.append(f"content-length: {len(body)}")
        request = "\r\n".join([*lines, "", ""]).encode("latin1") + body
        while True:
            connection = self._take_idle() or await self._connect()
            response = connection.send(request)
            try:
                await response.head
            except ReplicaUnavailable:
                if connection.reused and not response.headers:
                    continue  # it was closed while idle: nothing was lost but the connection
                raise
            except BaseException:
                connection.close()
                raise
            return response

    def close(self) -> None:
        """End all connections: whoever reads an answer sees it break."""
        for connection in list(self._open):
            connection.close()

    # Called by connections.

    def keep(self, connection: Connection) -> None:
        if len(self._idle) >= _IDLE_PER_ORIGIN:
            connection.close()
            return
        connection.reused = True
        self._idle.append(connection)

    def forget(self, connection: Connection) -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def _take_idle(self) -> Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                return connection
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        connection = Connection(self)
        try:
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                await loop.create_connection(
                    lambda: connection, self._host, self._port, ssl=self._tls
                )
        except (OSError, TimeoutError) as error:
            raise ReplicaUnavailable(f"{self.url}: no connection: {error or 'timeout'}") from error
        self._open.add(connection)
        return connection


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _tls_context(ca_file: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context
