"""Qwen2.5-VL's vision tower: images of any size, most layers attending within windows.

Source: Bai et al. 2025 (Qwen2.5-VL).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.core import PromptImage
from inference.model.layers.linear import DenseLinear
from inference.model.vision.attention import Groups, PatchAttention
from inference.model.vision.pixels import PixelScale

EPS = 1e-6


@dataclass(frozen=True)
class Grid:
    """Patches of `size` pixels; `merge` x `merge` of them are one token, `window` x `window` tokens
    attend to one another where not all do."""

    size: int
    merge: int
    window: int
    frames: int
    """A still image is so many equal ones."""


@dataclass(frozen=True)
class QwenBlock:
    norm1: Tensor
    attention: PatchAttention
    norm2: Tensor
    gate: DenseLinear
    up: DenseLinear
    down: DenseLinear
    sees_all: bool

    def __call__(self, x: Tensor, groups: Groups, turn: tuple[Tensor, Tensor]) -> Tensor:
        x = x + self.attention(F.rms_norm(x, x.shape[1:], self.norm1, EPS), groups, turn)
        normed = F.rms_norm(x, x.shape[1:], self.norm2, EPS)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


@dataclass(frozen=True)
class QwenMerger:
    """A token from the patches that are merged."""

    norm: Tensor
    inner: DenseLinear
    outer: DenseLinear

    def __call__(self, x: Tensor, patches: int) -> Tensor:
        normed = F.rms_norm(x, x.shape[1:], self.norm, EPS)
        return self.outer(F.gelu(self.inner(normed.view(len(x) // patches, -1))))


@dataclass(frozen=True)
class QwenVision:
    scale: PixelScale
    grid: Grid
    patch: DenseLinear
    """Of flattened patches: colours, frames, rows, columns."""
    blocks: tuple[QwenBlock, ...]
    merger: QwenMerger
    theta: float

    def __call__(self, image: PromptImage) -> Tensor:
        merge = self.grid.merge
        crops = self.scale.crops(image, self.patch.weight)
        rows, columns = (side // self.grid.size for side in image.shape[1:])
        x = self.patch(self._patches(crops[0], rows, columns))
        by_window, all_of_it = self._groups(rows, columns, x.device)
        turn = self._turn(rows, columns, x.device)
        for block in self.blocks:
            x = block(x, all_of_it if block.sees_all else by_window, turn)
        return self.merger(x, merge * merge)

    def _patches(self, pixels: Tensor, rows: int, columns: int) -> Tensor:
        """(N, patch) of (3, height, width), those of a token one after another."""
        size, merge, frames = self.grid.size, self.grid.merge, self.grid.frames
        cut = pixels.view(3, rows // merge, merge, size, columns // merge, merge, size)
        cut = cut.permute(1, 4, 2, 5, 0, 3, 6)[:, :, :, :, :, None]
        return cut.expand(-1, -1, -1, -1, -1, frames, -1, -1).reshape(rows * columns, -1)

    def _places(self, rows: int, columns: int, device: torch.device) -> Tensor:
        """(N, 2): row and column of each patch, in their order."""
        merge = self.grid.merge
        place = torch.cartesian_prod(
            torch.arange(rows, device=device), torch.arange(columns, device=device)
        )
        cut = place.view(rows // merge, merge, columns // merge, merge, 2)
        return cut.transpose(1, 2).reshape(-1, 2)

    def _groups(self, rows: int, columns: int, device: torch.device) -> tuple[Groups, Groups]:
        """Which patches attend to one another: those of a window, and all."""
        side = self.grid.window * self.grid.merge
        windows = self._places(rows, columns, device) // side
        number = windows[:, 0] * (columns // side + 1) + windows[:, 1]
        order = number.argsort(stable=True)
        sizes = number.unique(return_counts=True)[1].tolist()
        alike: dict[int, list[Tensor]] = defaultdict(list)
        for window in order.split(sizes):
            alike[len(window)].append(window)
        everything = torch.arange(rows * columns, device=device)[None]
        return [torch.stack(group) for group in alike.values()], [everything]

    def _turn(self, rows: int, columns: int, device: torch.device) -> tuple[Tensor, Tensor]:
        """A quarter of a head turns by row, one by column, and their pairs with them."""
        half = len(self.patch.weight) // self.blocks[0].attention.num_heads // 2
        speeds = self.theta ** -(torch.arange(0, half, 2, device=device).float() / half)
        angles = (self._places(rows, columns, device)[:, :, None].float() * speeds).flatten(1)
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()
