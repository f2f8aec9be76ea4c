"""One rank's part of a model's weights."""

from __future__ import annotations

from dataclasses import replace

from gguf.constants import GGML_QUANT_SIZES
from torch import Tensor

from inference.errors import ModelLoadError
from inference.model.architecture import Split
from inference.model.files.weights import WeightReader
from inference.model.layers.ranks import RankGroup
from inference.quantization.packed import PackedRows

_BY_ROWS = (Split.ROWS, Split.VOCABULARY)


class ShardedReader:
    """A `WeightReader` of this rank's part; its configuration counts this rank's heads.

    Experts are whole: a rank reads those that are its own.
    """

    def __init__(self, whole: WeightReader, group: RankGroup) -> None:
        """Raises ModelLoadError when the model cannot be split over the group."""
        self.architecture = whole.architecture
        self.config = whole.config.of_rank(group.size)
        self._whole = whole
        self._group = group

    def has(self, name: str) -> bool:
        # A bias behind a sum is added once, by the first rank.
        split = self.architecture.split(name)
        if name.endswith(":bias") and split is Split.COLUMNS and self._group.rank > 0:
            return False
        return self._whole.has(name)

    def read(self, name: str) -> Tensor:
        tensor, split = self._whole.read(name), self.architecture.split(name)
        if split in _BY_ROWS:
            rows = self._group.part(len(tensor))
            return tensor[rows.start : rows.stop].clone()
        if split is Split.COLUMNS and tensor.ndim == 2:
            columns = self._group.part(tensor.shape[1])
            return tensor[:, columns.start : columns.stop].clone()
        return tensor

    def read_packed(self, name: str) -> PackedRows | None:
        packed = self._whole.read_packed(name)
        if packed is None:
            return None
        split = self.architecture.split(name)
        if split in _BY_ROWS:
            rows = self._group.part(len(packed.data))
            return replace(packed, data=packed.data[rows.start : rows.stop].clone())
        if split is Split.COLUMNS:
            return self._columns(name, packed)
        return packed

    def release(self) -> None:
        self._whole.release()

    def _columns(self, name: str, packed: PackedRows) -> PackedRows:
        block, size = GGML_QUANT_SIZES[packed.kind]
        blocks = packed.width // block
        if blocks % self._group.size:
            raise ModelLoadError(
                f"{name} has {blocks} quantized blocks a row, which {self._group.size} ranks "
                "cannot share"
            )
        own = self._group.part(blocks)
        data = packed.data[:, own.start * size : own.stop * size].clone()
        return PackedRows(packed.kind, data, len(own) * block)
