"""A quantized matrix that multiplies activations by our kernels."""

from __future__ import annotations

import ctypes

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.kernels.cpu.address import at
from inference.quantization.packed import PackedRows

_BLOCK = 32
_BITS = {
    GGMLQuantizationType.Q4_0: 4,
    GGMLQuantizationType.Q4_1: 4,
    GGMLQuantizationType.Q8_0: 8,
}
_ROUNDED = 100
"""Added to a kind, as `decode.h` numbers them, whose products round activations."""


class PackedLinear:
    """y = x @ weight.T + bias from quantized rows. Also an `Embedding`, whose rows are exact.

    Rows are kept in groups as `blocks.h` describes, in the size that they have in the file;
    the last group is filled up with rows of zeros.
    """

    def __init__(
        self,
        kernels: ctypes.CDLL,
        rows: PackedRows,
        bias: Tensor | None,
        *,
        int8_activations: bool = False,
    ) -> None:
        """With `int8_activations` x is rounded to int8 in blocks of 32, each with its scale."""
        self._kernels = kernels
        self.num_rows = len(rows.data)
        self.width = rows.width
        self._bits = _BITS[rows.kind]
        self.rounds = int8_activations and bool(kernels.parley_has_int8())
        self.kind = self._bits + (_ROUNDED if self.rounds else 0)
        self._group = kernels.parley_group()
        self.data = _grouped(rows, self._group)
        self.bias = bias

    @staticmethod
    def takes(rows: PackedRows) -> bool:
        return rows.kind in _BITS

    def __call__(self, x: Tensor) -> Tensor:
        x = x.contiguous()
        padded = len(self.data) * self._group
        y = torch.empty(len(x), padded)
        self._kernels.parley_multiply(
            self.kind, at(self.data), at(x), at(y), len(x), padded, self.width
        )
        y = y[:, : self.num_rows]
        return y if self.bias is None else y + self.bias

    def rows(self, token_ids: Tensor) -> Tensor:
        group = self._group
        groups, members = self.data[token_ids // group], token_ids % group
        which = torch.arange(len(token_ids))
        heads = 2 if self._bits == 4 else 1
        halves = groups[..., : heads * 2 * group].contiguous().view(torch.float16)
        scales = halves.unflatten(-1, (heads, group))[which, :, :, members].float()
        parts = groups[..., heads * 2 * group :].unflatten(-1, (-1, group, 4))
        data = parts[which, :, :, members].flatten(2)
        if self._bits == 4:
            values = torch.cat((data & 15, data >> 4), dim=-1).float()
            return (values * scales[..., :1] + scales[..., 1:]).flatten(1)
        return (data.view(torch.int8).float() * scales).flatten(1)


def _grouped(rows: PackedRows, group: int) -> Tensor:
    """(groups, blocks, bytes) uint8: a group's scales, constants and bytes side by side."""
    missing = -len(rows.data) % group
    data = torch.nn.functional.pad(rows.data, (0, 0, 0, missing))
    data = data.view(len(data) // group, group, rows.width // _BLOCK, -1).transpose(1, 2)
    scale = data[..., :2]
    if rows.kind is GGMLQuantizationType.Q8_0:
        parts = data[..., 2:].unflatten(-1, (8, 4)).transpose(2, 3)
        return torch.cat((scale.flatten(2), parts.flatten(2)), dim=-1).contiguous()
    if rows.kind is GGMLQuantizationType.Q4_1:
        least, nibbles = data[..., 2:4], data[..., 4:]
    else:  # Q4_0 counts from -8
        halves = scale.contiguous().view(torch.float16)
        least, nibbles = (halves * -8).view(torch.uint8), data[..., 2:]
    # Byte i of a block holds the values at i and 16 + i, which is parts j and 4 + j here.
    parts = nibbles.unflatten(-1, (4, 4)).transpose(2, 3)
    return torch.cat((scale.flatten(2), least.flatten(2), parts.flatten(2)), dim=-1).contiguous()
