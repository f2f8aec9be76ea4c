"""The HTTP border: bodies in, errors and event streams out, clients that are gone."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from inference.errors import InferenceError, InvalidRequestError

T = TypeVar("T")

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_SEND_S = 120.0
"""A client that reads nothing for so long is taken to be gone."""
PING_S = 2.0
"""A stream that is silent for so long, because it waits or reads its prompt, gets a comment."""
_PATH = re.compile(r" - at `\$\.?([^`]*)`$")
_NAMED = re.compile(r"(?:unknown|missing required) field `([^`]+)`")
_encode = msgspec.json.Encoder().encode
_PING = b": ping\n\n"


class ClientGoneError(Exception):
    """The client closed the connection, or stopped reading."""


async def read_body(request: Request, kind: type[T]) -> T:
    """Read and validate a JSON body.

    Raises:
        InvalidRequestError: naming the field that is wrong.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise InvalidRequestError(f"the body is larger than {MAX_BODY_BYTES} bytes")
    return decode_body(bytes(body), kind)


def decode_body(body: bytes, kind: type[T]) -> T:
    """Validate a JSON body.

    Raises:
        InvalidRequestError: naming the field that is wrong.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError as error:
        text = str(error)
        named = _NAMED.search(text)
        path = _PATH.search(text)
        parts = [part[1] for part in (path, named) if part and part[1]]
        param = ".".join(parts) or None
        raise InvalidRequestError(_PATH.sub("", text), param=param) from error
    except RecursionError as error:
        raise InvalidRequestError("the body is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidRequestError(f"the body is not JSON: {error}") from error


def json_response(
    content: Any, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(_encode(content), status, headers, media_type="application/json")


def error_object(error: InferenceError) -> dict[str, Any]:
    """OpenAI's error object."""
    return {
        "error": {
            "message": error.message,
            "type": error.type,
            "code": error.code,
            "param": error.param,
        }
    }


async def error_response(_: Request, error: Exception) -> Response:
    """Answer any `InferenceError`; installed as Starlette's handler for them."""
    assert isinstance(error, InferenceError)
    headers = {"Retry-After": str(error.retry_after_s)} if error.retry_after_s else None
    return json_response(error_object(error), error.status, headers)


async def gone_response(_: Request, __: Exception) -> Response:
    """The client has gone; 499 is what access logs call a client that hung up."""
    return Response(status_code=499)


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Await `work`, but cancel it at once when the client disconnects.

    The request's body must have been read.

    Raises:
        ClientGoneError: when the client was faster.
    """
    working = asyncio.ensure_future(work)
    watching = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGoneError
    finally:
        for task in (working, watching):
            task.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class EventStream(Response):
    """Server-sent events: one `data:` line an object, `[DONE]` last.

    Comments show that a silent engine lives: they come from the loop that serves, which ends the
    stream within seconds where the core does not live (`inference/engine/watchdog.py`).

    A failure after the first byte becomes an error event. When the client disconnects, or takes
    nothing for `send_timeout_s`, `events` is closed at once, which aborts what it stands for.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        events: AsyncGenerator[Any, None],
        headers: dict[str, str],
        send_timeout_s: float = MAX_SEND_S,
        ping_s: float = PING_S,
    ) -> None:
        super().__init__(headers={**headers, "Cache-Control": "no-cache"})
        del self.headers["content-length"]
        self._events = events
        self._send_timeout_s = send_timeout_s
        self._ping_s = ping_s
        self._is_silent = True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await unless_gone(receive, self._send_events(send))
        except ClientGoneError:
            return

    async def _send_events(self, send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        pings = asyncio.create_task(self._ping(send))
        try:
            async with aclosing(self._events) as events:
                try:
                    async for event in events:
                        await self._send_data(send, _encode(event))
                except InferenceError as error:
                    await self._send_data(send, _encode(error_object(error)))
        finally:
            pings.cancel()
        await self._send_data(send, b"[DONE]", more=False)

    async def _ping(self, send: Send) -> None:
        while True:
            await asyncio.sleep(self._ping_s)
            if self._is_silent:
                await send({"type": "http.response.body", "body": _PING, "more_body": True})
            self._is_silent = True

    async def _send_data(self, send: Send, data: bytes, *, more: bool = True) -> None:
        """Raises ClientGoneError when the client leaves no room for it in time."""
        body = b"data: " + data + b"\n\n"
        self._is_silent = False
        try:
            async with asyncio.timeout(self._send_timeout_s):
                await send({"type": "http.response.body", "body": body, "more_body": more})
        except TimeoutError:
            raise ClientGoneError from None
