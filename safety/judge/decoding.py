"""Untrusted images become pixels here, and never more pixels than memory can bear.

A JPEG is decoded at an eighth to a half of its size where that is enough (its decoder can); other
formats decode whole, so fewer pixels are taken of them. How many decode at once is the caller's to
bound (`backend.platform.bounded_threads`).
"""

import io
import warnings

from PIL import Image

MAX_PIXELS = 40_000_000  # of a JPEG: a phone's camera stays below
MAX_WHOLE_PIXELS = 20_000_000  # of the others: 80 MB once decoded
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")


class UnreadableImage(ValueError):
    """The bytes are no image that can be read, or one with too many pixels."""


def image_decode(data: bytes, *, side: int) -> Image.Image:
    """The whole first frame; of a large JPEG a smaller one, its longer side still `side` or more.

    Raises:
        UnreadableImage: see the class. Its header says how large it is before anything is decoded.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            _require_bearable(image)
            scale = side / max(image.size)
            # Does nothing but for a JPEG.
            image.draft(None, (max(1, int(image.width * scale)), max(1, int(image.height * scale))))
            image.load()
    except UnreadableImage:
        raise
    except Exception as error:
        # Pillow's decoders raise whatever a broken file leads them to: OSError, SyntaxError,
        # ValueError, struct.error, DecompressionBombError. All say: this is no image.
        raise UnreadableImage("Not an image that can be read.") from error
    return image


def _require_bearable(image: Image.Image) -> None:
    allowed = MAX_PIXELS if image.format == "JPEG" else MAX_WHOLE_PIXELS
    if image.width * image.height > allowed:
        raise UnreadableImage(
            f"The image has {image.width} x {image.height} pixels;"
            f" {allowed // 1_000_000} million are allowed in a {image.format}."
        )
