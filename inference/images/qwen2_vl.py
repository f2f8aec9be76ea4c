"""Qwen2-VL's and Qwen2.5-VL's images: of any size, within bounds, in whole patches."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from inference.images.prepared import Detail, Pixels, Prepared, as_array

_MAX_RATIO = 200
_LOW_PIXELS = 512 * 512
"""OpenAI's `detail: low` is an image of 512 x 512."""


class QwenImages:
    mark = image_token = "<|image_pad|>"  # noqa: S105 - of a vocabulary

    def __init__(self, config: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        size = settings.get("size") or {}
        self._patch = settings.get("patch_size", 14)
        self._merge = settings.get("merge_size", 2)
        self._least = settings.get("min_pixels") or size.get("shortest_edge", 56 * 56)
        self._most = settings.get("max_pixels") or size.get("longest_edge", 28 * 28 * 1280)

    def prepare(self, image: Image.Image, detail: Detail, *, alone: bool) -> Prepared:
        side = self._patch * self._merge
        most = max(self._least, min(self._most, _LOW_PIXELS)) if detail == "low" else self._most
        height, width = fitting_size(image.height, image.width, side, self._least, most)
        resized = image.resize((width, height), Image.Resampling.BICUBIC)
        rows, columns = height // side, width // side
        pixels = Pixels(rows * columns, as_array(resized)[np.newaxis], grid=(rows, columns))
        return Prepared(self.image_token * pixels.num_tokens, (pixels,))


def fitting_size(height: int, width: int, side: int, least: int, most: int) -> tuple[int, int]:
    """Height and width in whole multiples of `side`, of about the same shape, with at least and at
    most so many pixels.

    Raises:
        ValueError: it is too long and thin.
    """
    if max(height, width) > _MAX_RATIO * min(height, width):
        raise ValueError(f"it is more than {_MAX_RATIO} times as long as wide")
    tall, wide = round(height / side) * side, round(width / side) * side
    if tall * wide > most:
        by = math.sqrt(height * width / most)
        tall = max(side, math.floor(height / by / side) * side)
        wide = max(side, math.floor(width / by / side) * side)
    elif tall * wide < least:
        by = math.sqrt(least / (height * width))
        tall, wide = math.ceil(height * by / side) * side, math.ceil(width * by / side) * side
    return tall, wide
