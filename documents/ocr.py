"""Text in pictures by RapidOCR: PP-OCRv6 on one core, its weights in the package.

Imported by the child alone, and warm before the child gives up what it does not need.
"""

import cv2
import numpy as np
from PIL import Image
from rapidocr import RapidOCR
from rapidocr.utils.output import RapidOCROutput

MAX_SIDE = 1600
"""Pixels: a page of a book is legible at that; larger takes seconds more."""

MIN_SHORT_SIDE = 320
"""Pixels: a smaller picture is enlarged to these before lines are looked for in it. The library's
own 736 take a screenshot of a line or two four times as long, and find no more in it."""

# A thread could not be started in the sandbox.
cv2.setNumThreads(1)
_reader = RapidOCR(
    params={
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        "Det.limit_side_len": MIN_SHORT_SIDE,
        "Global.log_level": "critical",
    }
)


def lines_of(picture: Image.Image) -> list[str]:
    """The lines of text in a picture, from the top; none where there is no text."""
    picture = picture.convert("RGB")
    picture.thumbnail((MAX_SIDE, MAX_SIDE))
    # The model was trained on blue, green, red.
    pixels = np.ascontiguousarray(np.asarray(picture)[:, :, ::-1])
    found = _reader(pixels)
    assert isinstance(found, RapidOCROutput)
    return list(found.txts or ())


# What a library loads at its first use is loaded while files can be opened.
lines_of(Image.new("RGB", (64, 64), "white"))
