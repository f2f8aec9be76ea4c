"""Reading weights: one interface, whatever the file.

Names are the short ones of this engine (`layers.3.attn.q`, its bias
`layers.3.attn.q:bias`), so that modules know neither GGUF's names nor Hugging Face's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.model.config import ModelConfig


@dataclass(frozen=True)
class PackedRows:
    """A matrix as its file has it: rows of quantized blocks."""

    kind: GGMLQuantizationType
    data: Tensor
    """(out, bytes of a row) uint8."""
    width: int
    """Values of a row."""


class WeightReader(Protocol):
    """An opened model: its configuration and its tensors by our names."""

    config: ModelConfig

    def has(self, name: str) -> bool: ...

    def read(self, name: str) -> torch.Tensor:
        """The tensor, shape (out, in) for matrices; float32 where it was quantized.

        Raises:
            ModelLoadError: when it is missing or in a format that we cannot read.
        """
        ...

    def read_packed(self, name: str) -> PackedRows | None:
        """The tensor's quantized rows, or None where it is not quantized."""
        ...
