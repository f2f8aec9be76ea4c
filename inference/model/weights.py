"""Reading weights: one interface, whatever the file.

Names are the short ones of this engine (`layers.3.attn.q`), so that modules know neither
GGUF's names nor Hugging Face's.
"""

from __future__ import annotations

from typing import Protocol

import torch

from inference.model.config import ModelConfig


class WeightReader(Protocol):
    """An opened model: its configuration and its tensors by our names."""

    config: ModelConfig

    def has(self, name: str) -> bool: ...

    def read(self, name: str) -> torch.Tensor:
        """The tensor in float32, shape (out, in) for matrices.

        Raises:
            ModelLoadError: when it is missing or in a format that we cannot read.
        """
        ...
