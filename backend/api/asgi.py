"""What must hold before Django sees a request: a path that can be one, a body that is let in, room.

Django reads a whole body, to disk if it is long, before any view runs, and takes NUL bytes in a
path that PostgreSQL then refuses. Here a body is stopped that is longer than its route takes, that
a stranger sends (body_doors.py), or for which this process has no room, and answered with the usual
error object. So are generations for which there is no room (generation/admission/shed.py).
"""

import hashlib
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any, Protocol, cast

import orjson
import structlog
from django.conf import settings

from backend.api import metrics
from backend.api.authentication import bearer_parts, shown_key
from backend.api.context import REQUEST_ID_HEADER, request_id_from
from backend.api.error_shapes import error_for
from backend.generation.admission.shed import PendingRequest
from backend.generation.lifespan import gateway_of
from backend.generation.stations import SERVER_TIMING
from backend.platform.errors import InvalidRequest, Overloaded, ParleyError, PayloadTooLarge
from backend.platform.json import encode_json
from backend.platform.received import note_received, received

Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
DoorFor = Callable[[str, str], "Door"]

_PENDING = "parley.pending_request"

FIRST_BYTES = 16 << 10
"""Bytes that anybody may send."""
_MAX_DIGITS = 20

# What is longer is not parsed twice.
_PEEKED_BYTES = 64 * 1024

access_log = structlog.get_logger("parley.access")


class Door(Protocol):
    """As `body_doors.BodyDoor`."""

    @property
    def limit(self) -> int: ...

    async def admit(self, scope: Scope) -> None: ...


class BodiesInFlight:
    """Bytes of the bodies that are being read or answered, in this process.

    Bodies longer than the common limit are uploads, which lie on disk: they have room of their own.
    """

    def __init__(self) -> None:
        self.in_memory = 0
        self.on_disk = 0

    def add(self, size: int, *, is_upload: bool) -> None:
        """Count `size` bytes more, or fewer. Raises Overloaded where there is no room."""
        if is_upload:
            self.on_disk += size
            is_full = self.on_disk > settings.MAX_UPLOADS_IN_FLIGHT_BYTES
        else:
            self.in_memory += size
            is_full = self.in_memory > settings.MAX_BODIES_IN_FLIGHT_BYTES
        if size > 0 and is_full:
            raise Overloaded("Too many large requests are being read. Try again.", retry_after=2)


class Body:
    """Reads one body, as far as it is taken."""

    def __init__(
        self, scope: Scope, receive: Receive, door_for: DoorFor, in_flight: BodiesInFlight
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._door_for = door_for
        self._in_flight = in_flight
        self._limit = FIRST_BYTES
        self._read = 0
        self._is_upload = False

    async def refuse_announced(self) -> None:
        """Refuse by the Content-Length, before a byte is read. Raises as `receive`."""
        for name, value in self._scope["headers"]:
            if name == b"content-length" and value.isdigit() and len(value) <= _MAX_DIGITS:
                await self._refuse_beyond(int(value))
            elif name == b"content-length":
                raise InvalidRequest("The Content-Length is not a number of bytes.")

    async def receive(self) -> AsgiMessage:
        """The next part.

        Raises:
            PayloadTooLarge: it is longer than its route takes.
            AuthenticationFailed, PermissionDenied: its sender is not let in there.
            Overloaded: this process has no room for it.
        """
        message = await self._receive()
        size = len(message.get("body", b""))
        await self._refuse_beyond(self._read + size)
        self._read += size
        self._in_flight.add(size, is_upload=self._is_upload)
        return message

    def forget(self) -> None:
        self._in_flight.add(-self._read, is_upload=self._is_upload)
        self._read = 0

    async def _refuse_beyond(self, size: int) -> None:
        if size <= self._limit:
            return
        door = self._door_for(self._scope["method"], self._scope["path"])
        if size > door.limit:
            raise too_large(door.limit)
        await door.admit(self._scope)
        self._limit = door.limit
        self._in_flight.add(-self._read, is_upload=False)
        self._is_upload = door.limit > settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        self._in_flight.add(self._read, is_upload=self._is_upload)


class RequestGuard:
    """Wraps the HTTP application; answers 413, 401, 403, 400 and 503 itself.

    Args:
        generation_paths: where a request asks for a generation.
        door_for: the door of a longer body, by method and path.
    """

    def __init__(
        self, application: Application, generation_paths: Collection[str], door_for: DoorFor
    ) -> None:
        self.application = application
        self.in_flight = BodiesInFlight()
        self._generation_paths = generation_paths
        self._door_for = door_for

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note_received(_header(scope, b"traceparent"))
        body = Body(scope, receive, self._door_for, self.in_flight)
        try:
            refuse_bad_path(scope["path"])
            await body.refuse_announced()
            key = generation_key(scope, self._generation_paths)
            if key is None:
                await self.application(scope, body.receive, send)
            else:
                await self._let_in(key, scope, body.receive, send)
        except ParleyError as error:
            # Django reads the body before it answers, so nothing has been sent yet.
            await _refuse(error, scope, send)
        finally:
            body.forget()

    async def _let_in(self, key: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request for a generation on, if there is room for it.

        Raises:
            Overloaded: there is none.
        """
        read = [await receive()]
        while read[-1].get("more_body") and _size(read) <= _PEEKED_BYTES:
            read.append(await receive())
        model = model_in(read)

        async def receive_again() -> AsgiMessage:
            return read.pop(0) if read else await receive()

        with gateway_of(scope).shedder.pending(key, model) as pending:
            await self.application({**scope, _PENDING: pending}, receive_again, send)


def pending_request_of(scope: Mapping[str, Any]) -> PendingRequest | None:
    """How load shedding counts the request of `scope`; None where it is not counted."""
    return cast(PendingRequest | None, scope.get(_PENDING))


def generation_key(scope: Scope, generation_paths: Collection[str]) -> bytes | None:
    """A hash of the API key in a request for a generation; None for any other request.

    Repeats of one request (`Idempotency-Key`) need no room where their answer is there already,
    and a prompt on the page is stored before it may be refused: both are let in.
    """
    headers = dict(scope["headers"])
    shown = shown_key(lambda name: _text(headers.get(name.lower().encode())))
    if (
        scope["method"] != "POST"
        or scope["path"] not in generation_paths
        or shown is None
        or b"idempotency-key" in headers
    ):
        return None
    _, secret = bearer_parts(shown)
    return hashlib.sha256(secret.encode()).digest()


def _header(scope: Scope, wanted: bytes) -> str:
    return next((value.decode("latin1") for name, value in scope["headers"] if name == wanted), "")


def _text(header: bytes | None) -> str | None:
    return None if header is None else header.decode("latin1")


def model_in(read: Sequence[AsgiMessage]) -> str | None:
    """The model that a body asks for; None where these messages do not hold it whole."""
    if read[-1].get("more_body") or _size(read) > _PEEKED_BYTES:
        return None
    try:
        model = orjson.loads(b"".join(message.get("body", b"") for message in read))["model"]
    except (ValueError, TypeError, KeyError):
        return None
    return model if isinstance(model, str) else None


def _size(read: Sequence[AsgiMessage]) -> int:
    return sum(len(message.get("body", b"")) for message in read)


def refuse_bad_path(path: str) -> None:
    """Raises InvalidRequest for a path with a NUL byte."""
    if "\x00" in path:
        raise InvalidRequest("The path holds a NUL byte. Remove it.")


def too_large(limit: int) -> PayloadTooLarge:
    return PayloadTooLarge(f"The request body is larger than {limit} bytes. Send less.")


async def _refuse(error: ParleyError, scope: Scope, send: Send) -> None:
    chosen = next((v.decode("latin1") for k, v in scope["headers"] if k == b"x-request-id"), None)
    request_id = request_id_from(chosen)
    method = scope["method"]
    metrics.REQUESTS.labels("OTHER", "refused", str(error.status)).inc()
    access_log.info(
        "request",
        request_id=request_id,
        method=method,
        status=error.status,
        error_code=error.code,
    )
    body = encode_json(error_for(scope["path"], error))
    took_ms = (time.monotonic() - received().at) * 1000
    headers = [
        (b"content-type", b"application/json"),
        (SERVER_TIMING.lower().encode(), f"total;dur={took_ms:.2f}".encode()),
        (b"content-length", str(len(body)).encode()),
        (b"x-content-type-options", b"nosniff"),
        (REQUEST_ID_HEADER.lower().encode(), request_id.encode()),
        *((n.lower().encode(), v.encode()) for n, v in error.response_headers().items()),
    ]
    if not isinstance(error, Overloaded):  # else the body was read, and the next may come
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
