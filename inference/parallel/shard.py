"""One rank's part of a model's weights."""

from __future__ import annotations

from dataclasses import replace

from gguf.constants import GGML_QUANT_SIZES
from torch import Tensor

from inference.errors import ModelLoadError
from inference.model.weights import WeightReader
from inference.parallel.group import TensorGroup
from inference.quantization.packed import PackedRows

_BY_ROWS = (".attn.q", ".attn.k", ".attn.v", ".mlp.gate", ".mlp.up")
_BY_COLUMNS = (".attn.o", ".mlp.down")
_BY_VOCABULARY = ("embed", "lm_head")


class ShardedReader:
    """A `WeightReader` of this rank's part; its configuration counts this rank's heads.

    Experts are whole: a rank reads those that are its own.
    """

    def __init__(self, whole: WeightReader, group: TensorGroup) -> None:
        """Raises ModelLoadError when the model cannot be split over the group."""
        group.check(whole.config)
        self._whole = whole
        self._group = group
        config = whole.config
        inner = config.intermediate_size
        self.config = replace(
            config,
            num_heads=config.num_heads // group.size,
            num_kv_heads=config.num_kv_heads // group.size,
            intermediate_size=inner if config.moe else inner // group.size,
        )

    def has(self, name: str) -> bool:
        # A bias behind a sum is added once, by the first rank.
        if name.endswith(":bias") and _splits_columns(name) and self._group.rank > 0:
            return False
        return self._whole.has(name)

    def read(self, name: str) -> Tensor:
        tensor = self._whole.read(name)
        if _splits_rows(name):
            rows = self._group.part(len(tensor))
            return tensor[rows.start : rows.stop].clone()
        if _splits_columns(name) and tensor.ndim == 2:
            columns = self._group.part(tensor.shape[1])
            return tensor[:, columns.start : columns.stop].clone()
        return tensor

    def read_packed(self, name: str) -> PackedRows | None:
        packed = self._whole.read_packed(name)
        if packed is None:
            return None
        if _splits_rows(name):
            rows = self._group.part(len(packed.data))
            return replace(packed, data=packed.data[rows.start : rows.stop].clone())
        if _splits_columns(name):
            return self._columns(name, packed)
        return packed

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


def _splits_rows(name: str) -> bool:
    name = name.partition(":")[0]
    return name.endswith(_BY_ROWS) or name in _BY_VOCABULARY


def _splits_columns(name: str) -> bool:
    return name.partition(":")[0].endswith(_BY_COLUMNS)
