"""Rows of a quantized matrix that is never multiplied with: it stays where its file has it."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from inference.kernels.cpu.address import at
from inference.kernels.cpu.packed_linear import KINDS, pack, packed_bytes
from inference.quantization.packed import PackedRows


class PackedEmbedding:
    """An `Embedding` that packs and unpacks the few rows that it is asked for. Of a mapped file
    only those pages are in memory that were read, and they are the page cache's."""

    def __init__(self, kernels: ctypes.CDLL, rows: PackedRows) -> None:
        self._kernels = kernels
        self._rows = rows

    @staticmethod
    def takes(rows: PackedRows) -> bool:
        """Whether the rows are of a known format."""
        return rows.kind in KINDS

    def rows(self, token_ids: Tensor) -> Tensor:
        kind, width, count = self._rows.kind, self._rows.width, len(token_ids)
        chosen = PackedRows(kind, self._rows.data[token_ids], width)
        packed = torch.empty(
            packed_bytes(self._kernels, int(kind), count, width), dtype=torch.uint8
        )
        pack(self._kernels, chosen, packed)
        out, numbers = torch.empty(count, width), torch.arange(count)
        self._kernels.parley_rows(int(kind), at(packed), at(numbers), at(out), count, width)
        return out
