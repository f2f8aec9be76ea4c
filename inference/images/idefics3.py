"""Idefics3's and SmolVLM's images: tiles of one size in rows, and the whole as one more."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from inference.images.prepared import Detail, Pixels, Prepared, as_array

_MAX_SIDE = 4096
_FRAME = "<fake_token_around_image>"
_WHOLE = "<global-img>"


class IdeficsImages:
    mark = image_token = "<image>"  # noqa: S105 - of a vocabulary

    def __init__(self, config: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        vision = config["vision_config"]
        patches = vision["image_size"] // vision["patch_size"]
        self._tokens = patches**2 // config.get("scale_factor", 2) ** 2
        self._longest = (settings.get("size") or {}).get("longest_edge", 4 * 364)
        self._tile = (settings.get("max_image_size") or {}).get("longest_edge", 364)
        self._splits = settings.get("do_image_splitting", True)
        self._resample = Image.Resampling(settings.get("resample", Image.Resampling.LANCZOS))

    def prepare(self, image: Image.Image, detail: Detail, *, alone: bool) -> Prepared:
        side = self._tile
        height, width = _longest_side(image.height, image.width, self._longest)
        image = image.resize((width, height), self._resample)
        if not self._splits or detail == "low":
            return self._whole(image.resize((side, side), self._resample))
        height, width = _whole_tiles(height, width, side)
        image = image.resize((width, height), self._resample)
        if max(height, width) <= side:
            return self._whole(image)
        rows, columns = height // side, width // side
        data = as_array(image)
        tiles = [
            data[top : top + side, left : left + side]
            for top in range(0, height, side)
            for left in range(0, width, side)
        ]
        tiles.append(as_array(image.resize((side, side), self._resample)))
        places = [
            "".join(f"{_FRAME}<row_{row}_col_{column}>{self._run}" for column in _from_one(columns))
            for row in _from_one(rows)
        ]
        text = "".join(f"{place}\n" for place in places)
        text += f"\n{_FRAME}{_WHOLE}{self._run}{_FRAME}"
        return Prepared(text, tuple(Pixels(self._tokens, tile[np.newaxis]) for tile in tiles))

    @property
    def _run(self) -> str:
        return self.image_token * self._tokens

    def _whole(self, image: Image.Image) -> Prepared:
        pixels = Pixels(self._tokens, as_array(image)[np.newaxis])
        return Prepared(f"{_FRAME}{_WHOLE}{self._run}{_FRAME}", (pixels,))


def _from_one(count: int) -> range:
    return range(1, count + 1)


def _longest_side(height: int, width: int, longest: int) -> tuple[int, int]:
    """Of the same shape, the longer side so long, the other even, none above the largest."""
    ratio = width / height
    if width >= height:
        width, height = longest, int(longest / ratio)
        height += height % 2
    else:
        height, width = longest, int(longest * ratio)
        width += width % 2
    height, width = max(height, 1), max(width, 1)
    ratio = width / height
    if width >= height and width > _MAX_SIDE:
        width, height = _MAX_SIDE, int(_MAX_SIDE / ratio)
    elif height > width and height > _MAX_SIDE:
        height, width = _MAX_SIDE, int(_MAX_SIDE * ratio)
    return max(height, 1), max(width, 1)


def _whole_tiles(height: int, width: int, side: int) -> tuple[int, int]:
    """The next size in whole tiles."""
    ratio = width / height
    if width >= height:
        width = math.ceil(width / side) * side
        height = math.ceil(int(width / ratio) / side) * side
    else:
        height = math.ceil(height / side) * side
        width = math.ceil(int(height * ratio) / side) * side
    return max(height, side), max(width, side)
