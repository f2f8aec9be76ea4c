"""Products from GGUF's 4-bit and 8-bit blocks, unpacked in registers: reads a quarter or half.

A block's bytes and its scales lie in separate tensors here, so that loads are aligned; the
values are those of the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from gguf.constants import GGMLQuantizationType
from torch import Tensor

from inference.quantization.packed import PackedRows

_BLOCK = 32
_ROWS = 16
_COLUMNS = 64
_BYTES = {
    GGMLQuantizationType.Q4_0: 16,
    GGMLQuantizationType.Q4_1: 16,
    GGMLQuantizationType.Q8_0: 32,
}


@dataclass(frozen=True)
class TritonBlocks:
    """Rows as the kernels read them: integers, and what they are multiplied by and added to."""

    data: Tensor
    """(..., rows, blocks, bytes)."""
    scales: Tensor
    """(..., rows, blocks), as `least`."""
    least: Tensor

    @property
    def four_bits(self) -> bool:
        return self.data.shape[-1] == _BYTES[GGMLQuantizationType.Q4_0]

    @classmethod
    def of(cls, rows: PackedRows, device: torch.device) -> TritonBlocks:
        size = _BYTES[rows.kind]
        blocks = rows.data.to(device).view(len(rows.data), rows.width // _BLOCK, -1)
        halves = blocks[..., :-size].contiguous().view(torch.float16)
        scales = halves[..., 0].contiguous()
        if rows.kind is GGMLQuantizationType.Q4_1:
            least = halves[..., 1].contiguous()
        else:  # Q4_0 counts from -8
            least = scales * (-8.0 if rows.kind is GGMLQuantizationType.Q4_0 else 0.0)
        return cls(blocks[..., -size:].contiguous(), scales, least)

    @classmethod
    def stacked(cls, each: Sequence[TritonBlocks]) -> TritonBlocks:
        """Matrices of one shape and kind, one after another."""
        return cls(
            torch.stack([one.data for one in each]),
            torch.stack([one.scales for one in each]),
            torch.stack([one.least for one in each]),
        )


class TritonPackedLinear:
    """y = x @ weight.T + bias. A `Linear`, and an `Embedding`."""

    def __init__(
        self, rows: PackedRows, bias: Tensor | None, device: torch.device, dtype: torch.dtype
    ) -> None:
        """`dtype` is that of the activations."""
        blocks = TritonBlocks.of(rows, device)
        self._bytes, self._scales, self._least = blocks.data, blocks.scales, blocks.least
        self._four_bits = blocks.four_bits
        self._width = rows.width
        self._bias = bias
        self._dtype = dtype

    @staticmethod
    def takes(rows: PackedRows) -> bool:
        return rows.kind in _BYTES

    def __call__(self, x: Tensor) -> Tensor:
        x = x.contiguous()
        num, num_out = len(x), len(self._bytes)
        out = torch.empty(num, num_out, dtype=x.dtype, device=x.device)
        _packed_product[(triton.cdiv(num, _ROWS), triton.cdiv(num_out, _COLUMNS))](
            x,
            self._bytes,
            self._scales,
            self._least,
            out,
            num,
            num_out,
            self._width // _BLOCK,
            FOUR_BITS=self._four_bits,
            ROWS=_ROWS,
            COLUMNS=_COLUMNS,
        )
        return out if self._bias is None else out.add_(self._bias)

    def rows(self, token_ids: Tensor) -> Tensor:
        """(T,) ids to (T, width)."""
        data = self._bytes[token_ids]
        if self._four_bits:
            values = torch.cat((data & 15, data >> 4), dim=-1).float()
        else:
            values = data.view(torch.int8).float()
        values = values * self._scales[token_ids].float()[..., None]
        values = values + self._least[token_ids].float()[..., None]
        return values.flatten(1).to(self._dtype)


@triton.jit
def unpacked(data, scales, least, index, exists, FOUR_BITS: tl.constexpr):
    """The two halves, of 16 values each, of the blocks at `index`, as rows in float32; 0 where a
    block does not exist."""
    half = tl.arange(0, 16)[None, :]
    scale = tl.load(scales + index, mask=exists, other=0.0).to(tl.float32)[:, None]
    low = tl.load(least + index, mask=exists, other=0.0).to(tl.float32)[:, None]
    if FOUR_BITS:
        both = tl.load(data + index[:, None] * 16 + half, mask=exists[:, None], other=0)
        first, second = (both & 15).to(tl.float32), (both >> 4).to(tl.float32)
    else:
        block = data + index[:, None] * 32 + half
        first = tl.load(block, mask=exists[:, None], other=0).to(tl.int8, bitcast=True)
        second = tl.load(block + 16, mask=exists[:, None], other=0).to(tl.int8, bitcast=True)
        first, second = first.to(tl.float32), second.to(tl.float32)
    return first * scale + low, second * scale + low


@triton.jit
def _packed_product(
    x, data, scales, least, out, num, num_out, blocks,
    FOUR_BITS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    half = tl.arange(0, 16)
    real = (row < num)[:, None]
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for block in range(blocks):
        index = column.to(tl.int64) * blocks + block
        from_x = x + row.to(tl.int64)[:, None] * blocks * 32 + block * 32 + half[None, :]
        left = tl.load(from_x, mask=real, other=0.0)
        right = tl.load(from_x + 16, mask=real, other=0.0)
        first, second = unpacked(data, scales, least, index, column < num_out, FOUR_BITS)
        first, second = first.to(left.dtype), second.to(left.dtype)
        total += tl.dot(left, tl.trans(first), input_precision="ieee")
        total += tl.dot(right, tl.trans(second), input_precision="ieee")
    tl.store(
        out + row[:, None] * num_out + column[None, :],
        total.to(out.dtype.element_ty),
        mask=real & (column < num_out)[None, :],
    )
