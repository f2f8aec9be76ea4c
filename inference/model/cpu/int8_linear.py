"""A quantized matrix that multiplies activations rounded to int8, by our kernels."""

from __future__ import annotations

import ctypes

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.model.cpu.address import at
from inference.model.weights import PackedRows

_BLOCK = 32
_FOUR_BITS = (GGMLQuantizationType.Q4_0, GGMLQuantizationType.Q4_1)


class Int8Linear:
    """y = round(x) @ weight.T + bias. Also an `Embedding`, whose rows are exact.

    Rows are kept in groups as `int8.h` describes, in the size that they have in the file;
    the last group is filled up with rows of zeros.
    """

    def __init__(self, kernels: ctypes.CDLL, rows: PackedRows, bias: Tensor | None) -> None:
        self._kernels = kernels
        self.num_rows = len(rows.data)
        self.width = rows.width
        self._bits = 4 if rows.kind in _FOUR_BITS else 8
        self.kind = 100 + self._bits
        self._group = kernels.parley_int8_group()
        self.data = _grouped(rows, self._group)
        self.bias = bias

    @staticmethod
    def takes(kernels: ctypes.CDLL, rows: PackedRows) -> bool:
        known = (*_FOUR_BITS, GGMLQuantizationType.Q8_0)
        return rows.kind in known and bool(kernels.parley_int8_group())

    def __call__(self, x: Tensor) -> Tensor:
        x = x.contiguous()
        padded = len(self.data) * self._group
        y = torch.empty(len(x), padded)
        self._kernels.parley_multiply_int8(
            self._bits, at(self.data), at(x), at(y), len(x), padded, self.width
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
