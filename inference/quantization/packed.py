"""A quantized matrix as its file has it."""

from __future__ import annotations

from dataclasses import dataclass

from gguf.constants import GGMLQuantizationType
from torch import Tensor


@dataclass(frozen=True)
class PackedRows:
    """A matrix as its file has it: rows of quantized blocks."""

    kind: GGMLQuantizationType
    data: Tensor
    """(out, bytes of a row) uint8."""
    width: int
    """Values of a row."""
