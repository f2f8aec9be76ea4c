"""SigLIP's vision tower: squares of one size, every patch attending to all of its crop.

Source: Zhai et al. 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.model.layers.linear import Linear
from inference.model.vision.attention import PatchAttention


@dataclass(frozen=True)
class LayerNorm:
    weight: Tensor
    bias: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[1:], self.weight, self.bias, self.eps)


@dataclass(frozen=True)
class SiglipBlock:
    norm1: LayerNorm
    attention: PatchAttention
    norm2: LayerNorm
    inner: Linear
    outer: Linear

    def __call__(self, x: Tensor, crops: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x), [crops])
        return x + self.outer(F.gelu(self.inner(self.norm2(x)), approximate="tanh"))


@dataclass(frozen=True)
class Siglip:
    patch_size: int
    patch: Linear
    """Of flattened patches: colours, rows, columns."""
    positions: Tensor
    """(patches of a crop, hidden)."""
    blocks: tuple[SiglipBlock, ...]
    norm: LayerNorm | None
    """After the last block; None where what it gives is taken as it is."""

    def __call__(self, crops: Tensor) -> Tensor:
        """(crops, 3, side, side) to (crops, patches, hidden)."""
        count, size = len(crops), self.patch_size
        side = crops.shape[-1] // size
        cut = crops.view(count, 3, side, size, side, size).permute(0, 2, 4, 1, 3, 5)
        x = self.patch(cut.reshape(count, side * side, -1)) + self.positions
        x = x.flatten(0, 1)
        each = torch.arange(len(x), device=x.device).view(count, -1)
        for block in self.blocks:
            x = block(x, each)
        if self.norm is not None:
            x = self.norm(x)
        return x.view(count, side * side, -1)
