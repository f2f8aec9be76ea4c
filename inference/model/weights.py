"""Reading weights: one interface, whatever the file.

Names are the short ones of this engine (`layers.3.attn.q`, its bias
`layers.3.attn.q:bias`), so that modules know neither GGUF's names nor Hugging Face's.
"""

from __future__ import annotations

from typing import Protocol

import torch

from inference.model.config import ModelConfig
from inference.quantization.packed import PackedRows


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
