"""An image from a request: its bytes are anybody's, so nothing is decoded beyond the bounds."""

from __future__ import annotations

import base64
import binascii
import io
import warnings

from PIL import Image, ImageOps

from inference.errors import InvalidRequestError

MAX_PIXELS = 36_000_000
"""An image of so many takes 0.1 GB while it is made smaller."""
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_PREFIX = "data:image/"


def decode_image(url: str, param: str) -> Image.Image:
    """The image in a `data:image/…;base64,…` URL: upright, in RGB, what is clear made white.

    Raises:
        InvalidRequestError: it is none, or has too many pixels; names `param`.
    """
    head, found, encoded = url.partition(",")
    if not url.startswith(_PREFIX) or not found or not head.endswith(";base64"):
        raise InvalidRequestError(
            "an image must be sent inline, as a data:image/…;base64,… URL", param=param
        )
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequestError(f"the image is not base64: {error}", param=param) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data), formats=_FORMATS)
            pixels = image.width * image.height
            if pixels <= MAX_PIXELS:
                image.load()
                return _plain(image)
    except Exception as error:  # whatever a decoder raises: these bytes are no image
        raise InvalidRequestError("the image cannot be read", param=param) from error
    raise InvalidRequestError(
        f"the image has {pixels} pixels; at most {MAX_PIXELS} are taken", param=param
    )


def _plain(image: Image.Image) -> Image.Image:
    image = ImageOps.exif_transpose(image) or image
    if not image.has_transparency_data:
        return image.convert("RGB")
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
