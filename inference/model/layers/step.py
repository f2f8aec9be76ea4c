"""What the layers of one step share."""

from __future__ import annotations

import torch
from torch import Tensor

from inference.kernels.backend import Angles
from inference.kernels.batch import Batch
from inference.model.layers.chunked import in_chunks
from inference.model.layers.rope import Rotary


class Step:
    """A step's batch, and the angles of each rotation, computed when a layer first asks."""

    def __init__(self, batch: Batch, dtype: torch.dtype) -> None:
        self.batch = batch
        self.read_rows: Tensor | None = None
        """Rows of which a layer's result is read, when it is the last; all where None."""
        self._dtype = dtype
        self._angles: dict[Rotary, Angles] = {}
        self._in_chunks: dict[int, Batch] = {}

    def windowed(self) -> Step:
        """The step as layers with a window see it; this one where their blocks are all layers'."""
        if self.batch.windowed is None:
            return self
        other = Step(self.batch.at(self.batch.windowed), self._dtype)
        other._angles = self._angles
        return other

    def angles(self, rotary: Rotary) -> Angles:
        """cos and sin for every token of the batch."""
        found = self._angles.get(rotary)
        if found is None:
            found = self._angles[rotary] = rotary.at(self.batch.positions, self._dtype)
        return found

    def enter_last_layer(self) -> None:
        """From here on only the rows are computed that are read, where those are few: a prompt's
        last. Adapters are by rows of the whole batch."""
        rows = self.batch.read_rows
        if (
            rows is not None
            and not self.batch.adapters
            and 2 * len(rows) < len(self.batch.token_ids)
        ):
            self.read_rows = rows

    def in_chunks(self, size: int) -> Batch:
        """The batch as layers see it that attend within chunks."""
        if size not in self._in_chunks:
            self._in_chunks[size] = in_chunks(self.batch, size)
        return self._in_chunks[size]
