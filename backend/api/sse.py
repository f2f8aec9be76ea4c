"""The one encoder of server-sent events.

A stream is the events of one generation, with a comment whenever it has been silent for
`PING_INTERVAL_S`, so that neither client nor proxy gives up on it. `[DONE]` is always last, after
an error too. Events have an `id:` on the page's routes and where a program asks for it.

Source: WHATWG HTML, "Server-sent events"; OpenAI API reference, "Streaming".
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from typing import Any

from django.http import StreamingHttpResponse

from backend.accounts.access import Access
from backend.accounts.principal import AuthenticatedRequest, Principal
from backend.api.access_watch import access_watch
from backend.api.authentication import door_of
from backend.api.errors import as_parley_error
from backend.enterprise.gate import Door
from backend.generation.completion import Completion
from backend.generation.request import DONE, Event
from backend.platform.errors import AuthenticationFailed, ParleyError, PermissionDenied
from backend.platform.json import encode_json

PING_INTERVAL_S = 15.0
# Without an empty line: after one with an `id` before it, the official Python clients of OpenAI and
# Anthropic read an event without data, which they cannot decode.
PING = b": ping\n"
CONTENT_TYPE = "text/event-stream; charset=utf-8"

# Events read ahead of a slow client; then the reader waits.
_READ_AHEAD = 256


def encode_event(event: Event) -> bytes:
    """`data` is JSON or `[DONE]`, so it holds no line break."""
    return b"data: %s\n\n" % event.data


def encode_numbered_event(event: Event) -> bytes:
    return b"id: %d\ndata: %s\n\n" % (event.seq, event.data)


def encode_error(error: ParleyError) -> bytes:
    """Without an id: the client may come back for what follows the last event it had."""
    return b"data: %s\n\ndata: %s\n\n" % (encode_json(error.as_dict()), DONE)


@dataclass(frozen=True, slots=True)
class Wire:
    """How an API writes its events, and an error after the first of them."""

    event: Callable[[Event], bytes]
    error: Callable[[ParleyError], bytes]
    is_last: Callable[[Event], bool] = lambda event: event.data == DONE


CHUNKS = Wire(encode_event, encode_error)
"""Chat and text completions, as OpenAI sends them."""

NUMBERED_CHUNKS = Wire(encode_numbered_event, encode_error)


def chunks_for(request: AuthenticatedRequest) -> Wire:
    """Numbered for the page and for who asks; several of OpenAI's clients fail at an `id:`."""
    asks = "Last-Event-ID" in request.headers or "after" in request.GET
    return NUMBERED_CHUNKS if asks or request.path.startswith("/api/") else CHUNKS


Whole = Callable[[Completion], dict[str, Any]]


class EventStreamResponse(StreamingHttpResponse):
    """The response around `event_stream`; never buffered, stored or transformed on its way.

    Attributes:
        has_ended: the part that was read last is the last one.
    """

    def __init__(
        self,
        events: AsyncIterator[Event],
        headers: dict[str, str],
        *,
        request: AuthenticatedRequest,
        wire: Wire | None = None,
        whole: "Whole | None" = None,
    ) -> None:
        """
        Args:
            whole: the answer of a client that does not stream, for the log of requests.
        """
        self.whole = whole
        self.has_ended = False
        self._stream = event_stream(
            events,
            reader=access_of(request.auth),
            door=door_of(request),
            wire=wire or chunks_for(request),
            on_last=self._end,
        )
        super().__init__(
            self._stream,
            content_type=CONTENT_TYPE,
            headers={
                "Cache-Control": "no-cache, no-store, no-transform",
                "X-Accel-Buffering": "no",
                **headers,
            },
        )

    def __aiter__(self) -> AsyncIterator[bytes]:
        """The stream itself: Django's wrapper would leave it open when the client leaves."""
        return self._stream

    def _end(self) -> None:
        self.has_ended = True


async def event_stream(
    events: AsyncIterator[Event],
    ping_interval_s: float = PING_INTERVAL_S,
    *,
    reader: Access | None = None,
    door: Door | None = None,
    wire: Wire = NUMBERED_CHUNKS,
    on_last: Callable[[], None] = lambda: None,
) -> AsyncGenerator[bytes]:
    """`events` as bytes of an SSE body; several that are ready together leave together.

    Closing it (a client that left) closes `events` at once, which is how the gateway learns
    that has no reader any more. It raises nothing: a failure becomes an error event, and so does
    the end of the reader's access, and a `door` that would not let them in any more.

    Args:
        on_last: called before the last part is given out.
    """
    ahead = _ReadAhead(ping_interval_s)
    pump = asyncio.create_task(_pump(events, ahead))

    def end(refusal: PermissionDenied | None) -> None:
        """What was read ahead is not sent any more."""
        pump.cancel()
        ahead.replace(refusal or _access_ended())

    watching = access_watch().watching(reader, end, door=door) if reader else nullcontext()
    try:
        async with aclosing(_bodies(ahead, wire, on_last)) as bodies:
            with watching:
                async for body in bodies:
                    yield body
    finally:
        pump.cancel()
        ahead.close()
        await asyncio.gather(pump, return_exceptions=True)


async def _bodies(
    ahead: "_ReadAhead", wire: Wire, on_last: Callable[[], None]
) -> AsyncGenerator[bytes]:
    finished = False
    while not finished:
        items = await ahead.take()
        if not items:
            yield PING
            continue
        body, finished = _encode(items, wire)
        if finished:
            on_last()
        yield body


_Item = Event | BaseException | None
"""None: the events have ended."""


class _ReadAhead:
    """What has been read of a generation and not been sent yet. One task puts, one takes.

    Not an `asyncio.Queue` with a timeout around each `get`: those cost more than the rest of what
    is done here for a token.
    """

    def __init__(self, ping_interval_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._items: list[_Item] = []
        self._taker: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._interval_s = ping_interval_s
        self._since = self._loop.time()
        self._timer = self._loop.call_later(ping_interval_s, self._look)

    @property
    def is_full(self) -> bool:
        return len(self._items) >= _READ_AHEAD

    async def wait_for_room(self) -> None:
        while self.is_full:
            self._room = self._loop.create_future()
            await self._room

    def put(self, item: _Item) -> None:
        self._items.append(item)
        _set(self._taker)

    def replace(self, item: _Item) -> None:
        """Put `item` in the place of all that was not taken."""
        self._items = []
        self.put(item)

    async def take(self) -> list[_Item]:
        """Everything there is; [] when the interval passes without anything."""
        if not self._items:
            self._since = self._loop.time()
            self._taker = self._loop.create_future()
            await self._taker
            self._taker = None
        items, self._items = self._items, []
        _set(self._room)
        return items

    def close(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        """One timer a stream, not one a wait."""
        left = self._interval_s
        if self._taker is not None:
            left = self._since + self._interval_s - self._loop.time()
            if left <= 0:
                left = self._interval_s
                _set(self._taker)
        self._timer = self._loop.call_later(left, self._look)


def _set(future: asyncio.Future[None] | None) -> None:
    if future is not None and not future.done():
        future.set_result(None)


def access_of(principal: Principal) -> Access:
    return Access(principal.user_id, principal.organization_id, principal.key_id)


def _access_ended() -> AuthenticationFailed:
    return AuthenticationFailed(
        "Your access ended while this was sent: the key, the account or the membership was ended.",
        code="access_ended",
    )


async def _pump(events: AsyncIterator[Event], ahead: _ReadAhead) -> None:
    """Move `events` to `ahead`, then None or the exception; closes `events` in any case."""
    try:
        async for event in events:
            if ahead.is_full:
                await ahead.wait_for_room()
            ahead.put(event)
        ahead.put(None)
    except Exception as error:
        ahead.put(error)
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


def _encode(items: list[_Item], wire: Wire) -> tuple[bytes, bool]:
    """The bytes of `items`, and whether the stream ends with them."""
    body = bytearray()
    for item in items:
        if isinstance(item, Event):
            body += wire.event(item)
            if item.data == DONE:
                return bytes(body), True
        elif item is None:
            return bytes(body), True
        else:
            body += wire.error(as_parley_error(item))
            return bytes(body), True
    return bytes(body), False
