"""Gemma 3's images: squares of one size, and so many tokens each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from inference.images.prepared import Detail, Pixels, Prepared, as_array


class GemmaImages:
    mark = "<start_of_image>"
    image_token = "<image_soft_token>"  # noqa: S105 - of a vocabulary

    def __init__(self, config: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        side = config["vision_config"]["image_size"]
        size = settings.get("size") or {}
        self._size = (size.get("width", side), size.get("height", side))
        self._tokens = config.get("mm_tokens_per_image", 256)
        self._resample = Image.Resampling(settings.get("resample", Image.Resampling.BILINEAR))

    def prepare(self, image: Image.Image, detail: Detail, *, alone: bool) -> Prepared:
        data = as_array(image.resize(self._size, self._resample))[np.newaxis]
        tokens = self.image_token * self._tokens
        text = f"\n\n{self.mark}{tokens}<end_of_image>\n\n"
        return Prepared(text, (Pixels(self._tokens, data),))
