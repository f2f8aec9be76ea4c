"""Integers with a scale and a zero for each group of columns, and the blocks that hold the same."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.quantization.packed import PackedRows

_BLOCK = 32
_HALF_ERROR = 1 / 2048
"""Of a number that is rounded to float16, where that has all its bits."""


@dataclass(frozen=True)
class Codes:
    """A matrix (out, in): value = (number - zero) * scale."""

    numbers: Tensor
    """(out, in) int32 less their zeros: from -255 to 255."""
    scales: Tensor
    """(out, groups) float32."""
    group_of: Tensor | None = None
    """(in,) the group of each column; None: groups are equal and in order."""

    def dense(self) -> Tensor:
        """(out, in) float32."""
        if self.group_of is not None:
            return self.numbers * self.scales[:, self.group_of]
        rows, columns = self.numbers.shape
        grouped = self.numbers.reshape(rows, self.scales.shape[1], -1) * self.scales[..., None]
        return grouped.view(rows, columns)

    def why_dense(self) -> str | None:
        """Why no block format of ours holds these numbers; None where one does."""
        columns, groups = self.numbers.shape[1], self.scales.shape[1]
        if self.group_of is not None:
            return "its groups are out of order"
        if columns // groups % _BLOCK:
            return f"its groups have {columns // groups} columns, which blocks of 32 do not fill"
        if bool(((self.scales.half().float() - self.scales).abs() > self._allowed()).any()):
            return "its scales are beyond float16"
        if int(self.numbers.min()) < -128 or int(self.numbers.max()) > 127:
            return "its numbers less their zeros have more than 8 bits"
        return None

    def blocks(self) -> PackedRows:
        """The same numbers as Q4_0, Q5_0 or Q8_0, whichever is the first to hold them; the caller
        has asked `why_dense`."""
        rows, columns = self.numbers.shape
        numbers = self.numbers.reshape(rows, -1, _BLOCK)
        repeats = numbers.shape[1] // self.scales.shape[1]
        scales = self.scales.half().repeat_interleave(repeats, dim=1)[..., None].view(torch.uint8)
        least, most = int(numbers.min()), int(numbers.max())
        if least >= -8 and most <= 7:
            kind, data = GGMLQuantizationType.Q4_0, _nibbles(numbers + 8)
        elif least >= -16 and most <= 15:
            kind, data = GGMLQuantizationType.Q5_0, _five_bits(numbers + 16)
        else:
            kind, data = GGMLQuantizationType.Q8_0, numbers.to(torch.int8).view(torch.uint8)
        return PackedRows(kind, torch.cat((scales, data), dim=-1).flatten(1), columns)

    def _allowed(self) -> Tensor:
        return self.scales.abs() * _HALF_ERROR


def _nibbles(numbers: Tensor) -> Tensor:
    """(..., 32) of four bits to 16 bytes: the first half low, the second high."""
    numbers = numbers & 15
    return (numbers[..., :16] | numbers[..., 16:] << 4).to(torch.uint8)


def _five_bits(numbers: Tensor) -> Tensor:
    """(..., 32) of five bits to Q5_0's 20 bytes: the fifth bit of each, then the others."""
    bits = (numbers >> 4).view(*numbers.shape[:-1], 4, 8)
    fifths = (bits << torch.arange(8, dtype=torch.int32)).sum(-1)
    return torch.cat((fifths.to(torch.uint8), _nibbles(numbers)), dim=-1)
