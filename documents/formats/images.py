"""Images by OCR: a passage each, in their order, numbered from 1; "" where there is no text."""

import io
from collections.abc import Iterator

import msgspec
from PIL import Image

from documents.ocr import lines_of
from documents.passages import clean
from documents.types import Passage


def read(data: bytes) -> Iterator[Passage]:
    """
    Args:
        data: a msgpack list of PNG files.
    """
    for number, image in enumerate(msgspec.msgpack.decode(data, type=list[bytes]), start=1):
        picture = Image.open(io.BytesIO(image), formats=["PNG"])
        yield Passage(str(number), "\n".join(clean(line) for line in lines_of(picture)))
