"""Text in images, for models that cannot see: read by OCR, and given as untrusted content.

Needs the extra `ocr`; without it such a request is refused. Images are read before the prompt is
checked, so what they say is checked like any file's text; the pixels are checked as ever, and go to
no engine. What was read is remembered for a while: a conversation carries its images along.
"""

import base64
import hashlib
import importlib
import importlib.util
from collections import OrderedDict
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import Any
from uuid import UUID

import msgspec
import numpy as np

from backend.conversations.types import ChatMessage, ImagePart, Part, UntrustedPart
from backend.generation.pools.access import require_capability
from backend.generation.pools.config import PoolConfig
from backend.generation.request import GenerationRequest
from backend.platform.bounded_threads import BoundedThreads
from backend.platform.errors import InvalidRequest
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
"""A page of a book is legible at that; larger takes seconds more."""
_REMEMBERED = 256
# One takes about two seconds of a core and, once begun, half a gigabyte.
_THREADS = BoundedThreads("ocr", at_once=1, waiting=16)


def can_read_images() -> bool:
    """Whether the extra `ocr` is installed."""
    return importlib.util.find_spec("rapidocr_onnxruntime") is not None


def require_sight(pool: PoolConfig) -> None:
    """Raises InvalidRequest: the model cannot see images, and nothing here reads them for it."""
    if not can_read_images():
        require_capability(pool, "vision", "messages")


def capabilities_of(pool: PoolConfig) -> list[str]:
    """The pool's, and `ocr` where images are read for it."""
    reads = "chat" in pool.capabilities and "vision" not in pool.capabilities
    return [*pool.capabilities, *([CAPABILITY] if reads and can_read_images() else [])]


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
    except UnreadableImage as error:
        raise InvalidRequest(f"An image cannot be read: {error}", param="messages") from error


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
    left = MAX_IMAGES
    messages: list[ChatMessage] = []
    for message in reversed(request.messages):
        parts: list[Part] = []
        for part in message.parts:
            parts.append(part)
            if isinstance(part, ImagePart):
                parts.append(_text_part(part, organization_id, skip=left <= 0))
                left -= 1
        messages.append(
            msgspec.structs.replace(message, content=parts) if message.images else message
        )
    return replace(request, messages=messages[::-1])


def _text_part(part: ImagePart, organization_id: UUID, *, skip: bool) -> UntrustedPart:
    source = "an image, of which you are given the text that OCR has found in it"
    if skip:
        return UntrustedPart(source, "[This image was not read: there are too many.]")
    data = base64.b64decode(part.url.partition(",")[2], validate=True)
    return UntrustedPart(source, _TEXTS.of(organization_id, data) or "[No text was found in it.]")


class _Texts:
    """The texts of the images that were read last, each known to one organization only."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[UUID, bytes], str] = OrderedDict()
        self._lock = Lock()

    def of(self, organization_id: UUID, data: bytes) -> str:
        key = (organization_id, hashlib.sha256(data).digest())
        with self._lock:
            if (known := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return known
        text = read_image(data)
        with self._lock:
            self._kept[key] = text
            while len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)
        return text


_TEXTS = _Texts()


def read_image(data: bytes) -> str:
    """The lines of text in an image, from the top; "" where there is none.

    Raises:
        UnreadableImage: it is none, or has too many pixels.
    """
    image = image_decode(data, side=_MAX_SIDE)
    image.thumbnail((_MAX_SIDE, _MAX_SIDE))
    # The model was trained on blue, green, red.
    pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]
    found, _ = _model()(np.ascontiguousarray(pixels))
    return "\n".join(text for _, text, _ in found or ())[:MAX_CHARACTERS]


@cache
def _model() -> Any:
    """PP-OCRv4 on one core; its weights are in the package."""
    package = importlib.import_module("rapidocr_onnxruntime")
    return package.RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)
