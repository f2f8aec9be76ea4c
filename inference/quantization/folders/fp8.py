"""Matrices in eight-bit floats with scales: one a matrix, one a row, or one a block.

DeepSeek's blocks are of 128 x 128, the last of a row or column cut off (`weight_scale_inv`, which
is what a number is multiplied by). No block format of ours holds such floats: they become dense.
Activations stay as they are computed, finer than the file allows for.
Source: DeepSeek-AI 2024, DeepSeek-V3 Technical Report, section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from inference.errors import ModelLoadError
from inference.quantization.folders.unpack import Tensors, need, scales

KINDS = (torch.float8_e4m3fn, torch.float8_e5m2)


@dataclass(frozen=True)
class Fp8:
    block: tuple[int, int] | None = None
    """Rows and columns that share a scale, where these are blocks."""

    name = "fp8"
    main = "weight"
    tensors = ("weight", "weight_scale", "weight_scale_inv")

    def matrix(self, name: str, tensors: Tensors) -> Tensor:
        weight = need(name, tensors, self.main)
        if weight.dtype not in KINDS or weight.ndim != 2:
            shape = tuple(weight.shape)
            raise ModelLoadError(f"{name}.weight is {weight.dtype} {shape}, not a matrix of FP8")
        end = "weight_scale" if "weight_scale" in tensors else "weight_scale_inv"
        given = scales(name, tensors, end)
        return weight.float() * spread(f"{name}.{end}", given, weight.shape, self.block)


def spread(name: str, given: Tensor, shape: torch.Size, block: tuple[int, int] | None) -> Tensor:
    """Scales such that they multiply a matrix of `shape`.

    Raises:
        ModelLoadError: when there are neither one, one a row nor one a block.
    """
    rows, columns = shape
    if given.numel() == 1:
        return given.view(1, 1)
    if block is None:
        if tuple(given.shape) in ((rows,), (rows, 1)):
            return given.view(rows, 1)
    elif tuple(given.shape) == (-(-rows // block[0]), -(-columns // block[1])):
        by_row = given.repeat_interleave(block[0], dim=0)[:rows]
        return by_row.repeat_interleave(block[1], dim=1)[:, :columns]
    of = "" if block is None else f" in blocks of {block[0]} x {block[1]}"
    raise ModelLoadError(
        f"{name} has shape {tuple(given.shape)} for a matrix of {rows} x {columns}{of}"
    )
