"""What the layers of one step share."""

from __future__ import annotations

import torch

from inference.kernels.backend import Angles
from inference.kernels.batch import Batch
from inference.model.layers.chunked import in_chunks
from inference.model.layers.rope import Rotary


class Step:
    """A step's batch, and the angles of each rotation, computed when a layer first asks."""

    def __init__(self, batch: Batch, dtype: torch.dtype) -> None:
        self.batch = batch
        self._dtype = dtype
        self._angles: dict[Rotary, Angles] = {}
        self._in_chunks: dict[int, Batch] = {}

    def angles(self, rotary: Rotary) -> Angles:
        """cos and sin for every token of the batch."""
        found = self._angles.get(rotary)
        if found is None:
            found = self._angles[rotary] = rotary.at(self.batch.positions, self._dtype)
        return found

    def in_chunks(self, size: int) -> Batch:
        """The batch as layers see it that attend within chunks."""
        if size not in self._in_chunks:
            self._in_chunks[size] = in_chunks(self.batch, size)
        return self._in_chunks[size]
