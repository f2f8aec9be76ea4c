"""What must hold before Django sees a request: its size, a path that can be a path, and room.

Django reads a whole body to disk before any view runs, whatever its length, and takes NUL
bytes in a path that PostgreSQL then refuses. Both are stopped here with the usual error object;
so are generations for which there is no room (backend/generation/admission/shed.py).
"""

import hashlib
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any, cast

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
from backend.generation.voice import MAX_AUDIO_BYTES
from backend.platform.errors import InvalidRequest, Overloaded, ParleyError, PayloadTooLarge
from backend.platform.json import encode_json
from backend.platform.received import note_received, received

Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_PENDING = "parley.pending_request"

# What is longer is not parsed twice.
_PEEKED_BYTES = 64 * 1024

UPLOAD_PATH = "/api/attachments"
FILES_PATH = "/v1/files"
AUDIO_PATH = re.compile(r"/(v1|api)/audio/(transcriptions|translations)")
PART_PATH = re.compile(r"/v1/uploads/[^/]+/parts\Z")
MAX_PART_BYTES = 64 << 20
# Boundary lines, part headers and the file's name, around the file itself.
_MULTIPART_OVERHEAD = 16 * 1024

access_log = structlog.get_logger("parley.access")


class RequestGuard:
    """Wraps the HTTP application; answers 413, 400 and 503 itself.

    Args:
        generation_paths: where a request asks for a generation.
    """

    def __init__(self, application: Application, generation_paths: Collection[str]) -> None:
        self.application = application
        self._generation_paths = generation_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        note_received(_header(scope, b"traceparent"))
        limit = body_limit_for(scope["path"])
        read = 0

        async def counted_receive() -> AsgiMessage:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit:
                raise too_large(limit)
            return message

        try:
            refuse_bad_path(scope["path"])
            refuse_announced_size(scope, limit)
            key = generation_key(scope, self._generation_paths)
            if key is None:
                await self.application(scope, counted_receive, send)
            else:
                await self._let_in(key, scope, counted_receive, send)
        except ParleyError as error:
            # Django reads the body before it answers, so nothing has been sent yet.
            await _refuse(error, scope, send)

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


def body_limit_for(path: str) -> int:
    """Bytes a body may have: uploads are larger than anything else."""
    if path == UPLOAD_PATH:
        return int(settings.ATTACHMENT_MAX_BYTES) + _MULTIPART_OVERHEAD
    if path == FILES_PATH:
        return int(settings.MAX_FILE_BYTES) + _MULTIPART_OVERHEAD
    if AUDIO_PATH.fullmatch(path):
        return MAX_AUDIO_BYTES + _MULTIPART_OVERHEAD
    if PART_PATH.match(path):
        return MAX_PART_BYTES + _MULTIPART_OVERHEAD
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def refuse_bad_path(path: str) -> None:
    """Raises InvalidRequest for a path with a NUL byte."""
    if "\x00" in path:
        raise InvalidRequest("The path holds a NUL byte. Remove it.")


def refuse_announced_size(scope: Scope, limit: int) -> None:
    """Raises PayloadTooLarge on a Content-Length over `limit`, before a byte is read."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value[:20]) > limit:
            raise too_large(limit)


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
