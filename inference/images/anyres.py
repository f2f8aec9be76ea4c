"""How LLaVA cuts images of any size: which grid of tiles, and what of it is not padding."""

from __future__ import annotations

import math
from collections.abc import Sequence

Size = tuple[int, int]
"""Height, width."""
_MUCH_LARGER = 1.1


def best_grid(size: Size, choices: Sequence[Sequence[int]]) -> Size:
    """Of the sizes to choose from the one that keeps most of an image, and of those the one with
    the least padding."""
    height, width = size
    best, most, least = (0, 0), 0, math.inf
    for tall, wide in choices:
        scale = min(wide / width, tall / height)
        kept = min(int(width * scale) * int(height * scale), width * height)
        wasted = tall * wide - kept
        if kept > most or (kept == most and wasted < least):
            best, most, least = (tall, wide), kept, wasted
    return best


def fitted(size: Size, into: Size) -> Size:
    """An image of the same shape as large as fits."""
    (height, width), (tall, wide) = size, into
    if wide / width < tall / height:
        return min(math.ceil(height * (wide / width)), tall), wide
    return tall, min(math.ceil(width * (tall / height)), wide)


def padding(size: Size, grid: Size) -> Size:
    """Rows above (and below), columns left (and right) of a grid of patches that are padding."""
    (height, width), (rows, columns) = size, grid
    if width / height > columns / rows:
        return (rows - int(round(height * (columns / width), 7))) // 2, 0
    return 0, (columns - int(round(width * (rows / height), 7))) // 2


def shrunk(grid: Size, side: int, most: int) -> Size:
    """The grid of patches that is left where it is larger than `most` crops of side x side."""
    rows, columns = grid
    ratio = math.sqrt(rows * columns / (most * side**2))
    return (int(rows // ratio), int(columns // ratio)) if ratio > _MUCH_LARGER else grid
