"""Text in images, for models that cannot see: read by OCR, and given as untrusted content.

Needs the extra `ocr`; without it such a request is refused. Images are read in a process that can
do nothing else (documents/), and before the prompt is checked, so what they say is checked like any
file's text; the pixels are checked as ever, and go to no engine. What was read is remembered for a
while: a conversation carries its images along.
"""

import base64
import hashlib
import io
from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from uuid import UUID

import msgspec

from backend.conversations.types import ChatMessage, ImagePart, Part, UntrustedPart
from backend.generation.pools.access import require_capability
from backend.generation.pools.config import PoolConfig
from backend.generation.request import GenerationRequest
from backend.platform.bounded_threads import BoundedThreads
from backend.platform.errors import InvalidRequest
from documents.run import can_recognize, images_read
from documents.types import UnreadableDocument
from safety.judge.decoding import UnreadableImage, image_decode

NOTICE_HEADER = "x-parley-notice"
NOTICE = "images-read-by-ocr"
"""In the answer's headers, where its images were read so."""
CAPABILITY = "ocr"
"""What the list of models says of one that is given the text in images."""
MAX_IMAGES = 8
MAX_CHARACTERS = 20_000
"""Of one image's text."""
_MAX_SIDE = 1600
"""Pixels: what OCR reads an image at, as a page of a book is legible at that."""
_SOURCE = "an image, of which you are given the text that OCR has found in it"
_REMEMBERED = 256
# One takes seconds of a core, and a gigabyte while it does.
_THREADS = BoundedThreads("ocr", at_once=1, waiting=16)


def require_sight(pool: PoolConfig) -> None:
    """Raises InvalidRequest: the model cannot see images, and nothing here reads them for it."""
    if not can_recognize():
        require_capability(pool, "vision", "messages")


def capabilities_of(pool: PoolConfig) -> list[str]:
    """The pool's, and `ocr` where images are read for it."""
    reads = "chat" in pool.capabilities and "vision" not in pool.capabilities
    return [*pool.capabilities, *([CAPABILITY] if reads and can_recognize() else [])]


async def with_image_text(request: GenerationRequest, pool: PoolConfig) -> GenerationRequest:
    """`request` with the text of each image beside it, where the model cannot see.

    Raises:
        InvalidRequest: nothing here reads images, or one cannot be decoded.
        Overloaded: too many others wait for this.
    """
    if "vision" in pool.capabilities or not any(one.images for one in request.messages):
        return request
    require_sight(pool)
    organization_id = request.principal.organization_id
    try:
        return await _THREADS.run(_with_text, request, organization_id)
    except (UnreadableImage, UnreadableDocument) as error:
        raise InvalidRequest(f"An image cannot be read: {error}", param="messages") from error


async def image_text(image: ImagePart, organization_id: UUID) -> str:
    """What a model that cannot see is given of `image`.

    Raises:
        UnreadableImage, UnreadableDocument, Overloaded: see `with_image_text`.
    """
    [text] = await _THREADS.run(_TEXTS.of, organization_id, [_data_of(image)])
    return text


def without_images(request: GenerationRequest, pool: PoolConfig) -> GenerationRequest:
    """`request` as a model that cannot see takes it."""
    if "vision" in pool.capabilities or not any(one.images for one in request.messages):
        return request
    messages = [
        msgspec.structs.replace(
            message, content=[part for part in message.parts if not isinstance(part, ImagePart)]
        )
        if message.images
        else message
        for message in request.messages
    ]
    return replace(request, messages=messages)


def _with_text(request: GenerationRequest, organization_id: UUID) -> GenerationRequest:
    """The newest images are read; of older ones it is said that they were not."""
    images = [
        _data_of(part)
        for message in request.messages
        for part in message.parts
        if isinstance(part, ImagePart)
    ]
    left_out = max(0, len(images) - MAX_IMAGES)
    read = iter(_TEXTS.of(organization_id, images[left_out:]))
    texts = iter(["[This image was not read: there are too many.]"] * left_out)
    messages: list[ChatMessage] = []
    for message in request.messages:
        parts: list[Part] = []
        for part in message.parts:
            parts.append(part)
            if isinstance(part, ImagePart):
                text = next(texts, None) or next(read) or "[No text was found in it.]"
                parts.append(UntrustedPart(_SOURCE, text, attachment_id=part.attachment_id))
        messages.append(
            msgspec.structs.replace(message, content=parts) if message.images else message
        )
    return replace(request, messages=messages)


def _data_of(image: ImagePart) -> bytes:
    return base64.b64decode(image.url.partition(",")[2], validate=True)


class _Texts:
    """The texts of the images that were read last, each known to one organization only."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[UUID, bytes], str] = OrderedDict()
        self._lock = Lock()

    def of(self, organization_id: UUID, images: list[bytes]) -> list[str]:
        keys = [(organization_id, hashlib.sha256(data).digest()) for data in images]
        with self._lock:
            texts = {key: self._kept[key] for key in keys if key in self._kept}
        unread = {key: data for key, data in zip(keys, images, strict=True) if key not in texts}
        texts |= zip(unread, texts_in(list(unread.values())), strict=True)
        with self._lock:
            for key in keys:
                self._kept[key] = texts[key]
                self._kept.move_to_end(key)
            while len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return [texts[key] for key in keys]


_TEXTS = _Texts()


def texts_in(images: list[bytes]) -> list[str]:
    """The lines of text in each image, from the top; "" where there is none.

    Raises:
        UnreadableImage: one is no image, or has too many pixels.
        UnreadableDocument: reading took too long.
    """
    if not images:
        return []
    return [text[:MAX_CHARACTERS] for text in images_read([_as_png(data) for data in images])]


def _as_png(data: bytes) -> bytes:
    image = image_decode(data, side=_MAX_SIDE)
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    png = io.BytesIO()
    image.convert("RGB").save(png, "PNG", compress_level=1)
    return png.getvalue()
