"""The images of a step: where their tokens stand, and what takes the place of their embeddings."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from inference.core import Chunk, PromptImage
from inference.kernels.batch import Features
from inference.model.architecture import VisionTower


class ImageFeatures:
    """What the vision tower makes of images, kept by their keys, at most `max_bytes` of it.

    The last image stays however large it is, so that a prompt that is computed in chunks has it
    looked at once.
    """

    def __init__(self, tower: VisionTower, max_bytes: int) -> None:
        self._tower = tower
        self._max_bytes = max_bytes
        self._kept: OrderedDict[tuple[str, bytes], Tensor] = OrderedDict()
        self.bytes = 0
        self.computed = 0

    def of(self, chunks: Iterable[Chunk]) -> Features | None:
        """Those of all images that the chunks, in the order of their rows, hold tokens of."""
        rows: list[int] = []
        values: list[Tensor] = []
        row = 0
        for chunk in chunks:
            end = chunk.start + chunk.num_tokens
            for image in chunk.request.images:
                first, last = max(image.start, chunk.start), min(image.end, end)
                if first >= last:
                    continue
                found = self._find(chunk.request.cache_salt, image)
                rows.extend(range(row + first - chunk.start, row + last - chunk.start))
                values.append(found[first - image.start : last - image.start])
            row += chunk.num_tokens
        if not rows:
            return None
        joined = torch.cat(values)
        return Features(torch.tensor(rows, device=joined.device), joined)

    def _find(self, salt: str, image: PromptImage) -> Tensor:
        """By salt as well: how fast an image is understood tells nobody who else has sent it."""
        key = (salt, image.key)
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        found = self._tower(image)
        if found.shape[0] != image.num_tokens:
            raise ValueError(f"{found.shape[0]} features for {image.num_tokens} tokens of an image")
        self.computed += 1
        self._kept[key] = found
        self.bytes += found.nbytes
        while self.bytes > self._max_bytes and len(self._kept) > 1:
            self.bytes -= self._kept.popitem(last=False)[1].nbytes
        return found


def positions_of(images: Sequence[PromptImage], begin: int, end: int) -> list[list[int]]:
    """By which the tokens [begin, end) of a sequence are turned: one list, or three (time, row and
    column) where images with a grid are among them.

    A token of such an image stands at its row and column from where the image begins, and what
    follows goes on behind the larger of both (Wang et al. 2024, Qwen2-VL).
    """
    placed = [image for image in images if image.grid != (0, 0) and image.start < end]
    axes: list[list[int]] = [[], [], []]
    at, shift = begin, 0
    for image in placed:
        rows, columns = image.grid
        if image.end > begin:
            _go_on(axes, at - shift, max(at, image.start) - shift)
            at = max(at, image.start)
            base = image.start - shift
            for offset in range(at - image.start, min(end, image.end) - image.start):
                axes[0].append(base)
                axes[1].append(base + offset // columns)
                axes[2].append(base + offset % columns)
            at = min(end, image.end)
        shift += image.num_tokens - max(rows, columns)
    _go_on(axes, at - shift, end - shift)
    return axes[:1] if axes[0] == axes[1] == axes[2] else axes


def _go_on(axes: list[list[int]], begin: int, end: int) -> None:
    for axis in axes:
        axis.extend(range(begin, end))
