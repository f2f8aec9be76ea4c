"""LLaVA-OneVision's images: the whole, and tiles of it where it is the only one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image

from inference.images.anyres import best_grid, fitted, padding, shrunk
from inference.images.prepared import Detail, Pixels, Prepared, as_array


class LlavaOnevisionImages:
    mark = image_token = "<image>"  # noqa: S105 - of a vocabulary

    def __init__(self, config: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        size = settings.get("size") or {}
        vision = config["vision_config"]
        self._side = size.get("height") or size.get("shortest_edge") or vision["image_size"]
        self._patches = vision["image_size"] // vision["patch_size"]
        self._grids = settings.get("image_grid_pinpoints") or config["image_grid_pinpoints"]
        self._most = most_crops(config)
        self._mean = settings.get("image_mean") or (0.5, 0.5, 0.5)
        self._resample = Image.Resampling(settings.get("resample", Image.Resampling.BICUBIC))

    def prepare(self, image: Image.Image, detail: Detail, *, alone: bool) -> Prepared:
        if not alone or detail == "low":
            return self._one_crop(image)
        side, size = self._side, (image.height, image.width)
        grid = best_grid(size, self._grids)
        height, width = fitted(size, grid)
        padded = Image.new("RGB", (grid[1], grid[0]))
        resized = image.resize((width, height), self._resample)
        padded.paste(resized, ((grid[1] - width) // 2, (grid[0] - height) // 2))
        data = as_array(padded)
        tiles = [
            data[top : top + side, left : left + side]
            for top in range(0, grid[0], side)
            for left in range(0, grid[1], side)
        ]
        crops = [as_array(image.resize((side, side), self._resample)), *tiles]
        rows, columns = grid[0] // side * self._patches, grid[1] // side * self._patches
        above, left = padding(size, (rows, columns))
        rows, columns = shrunk((rows - 2 * above, columns - 2 * left), self._patches, self._most)
        return self._prepared(crops, self._patches**2 + rows * (columns + 1), size)

    def _one_crop(self, image: Image.Image) -> Prepared:
        """The whole in a square, beside others."""
        longer = max(image.size)
        colour = tuple(int(part * 255) for part in self._mean)
        square = Image.new("RGB", (longer, longer), colour)
        square.paste(image, ((longer - image.width) // 2, (longer - image.height) // 2))
        crop = as_array(square.resize((self._side, self._side), self._resample))
        return self._prepared([crop], self._patches**2 + 1, (image.height, image.width))

    def _prepared(self, crops: list[np.ndarray], tokens: int, size: tuple[int, int]) -> Prepared:
        pixels = Pixels(tokens, np.stack(crops), size=size)
        return Prepared(self.image_token * tokens, (pixels,))


def most_crops(config: Mapping[str, Any]) -> int:
    """Of `anyres_max_9`: an image has no more tokens than so many crops."""
    return int(config.get("vision_aspect_ratio", "anyres_max_9").removeprefix("anyres_max_"))
