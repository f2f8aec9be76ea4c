"""Mixtures of experts from GGUF's 4-bit and 8-bit blocks: rows grouped by expert as in experts.py,
weights unpacked in registers as in packed_linear.py. Nothing is read back to the host.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import triton
import triton.language as tl
from torch import Tensor

from inference.kernels.gpu.experts import Grouping
from inference.kernels.gpu.packed_linear import TritonBlocks, TritonPackedLinear, unpacked
from inference.quantization.packed import PackedRows

_ROWS = 16
_COLUMNS = 64


class PackedExperts:
    """`ExpertMatrices` in blocks."""

    def __init__(self, experts: Sequence[PackedRows], device: torch.device) -> None:
        """A matrix of each expert, as `takes` allows."""
        self._blocks = TritonBlocks.stacked([TritonBlocks.of(rows, device) for rows in experts])

    @staticmethod
    def takes(experts: Sequence[PackedRows]) -> bool:
        """Whether all are alike, and in blocks that the kernel reads."""
        shapes = {(rows.kind, rows.width, len(rows.data)) for rows in experts}
        return len(shapes) == 1 and TritonPackedLinear.takes(experts[0])

    def __len__(self) -> int:
        return len(self._blocks.data)

    def product(self, x: Tensor, grouping: Grouping, choices: int, count: int) -> Tensor:
        blocks = self._blocks
        _, num_out, num_blocks = blocks.scales.shape
        out = torch.empty(count, num_out, dtype=x.dtype, device=x.device)
        _grouped_packed_product[(len(grouping.expert_of_tile), triton.cdiv(num_out, _COLUMNS))](
            x,
            blocks.data,
            blocks.scales,
            blocks.least,
            out,
            grouping.entries,
            grouping.expert_of_tile,
            count,
            num_out,
            num_blocks,
            choices,
            FOUR_BITS=blocks.four_bits,
            ROWS=_ROWS,
            COLUMNS=_COLUMNS,
        )
        return out


@triton.jit
def _grouped_packed_product(
    x, data, scales, least, out, entries, expert_of_tile, count, num_out, blocks, choices,
    FOUR_BITS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    entry = tl.load(entries + tile * ROWS + tl.arange(0, ROWS))
    real = (entry < count)[:, None]
    expert = tl.load(expert_of_tile + tile).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    half = tl.arange(0, 16)
    rows = x + (entry // choices).to(tl.int64)[:, None] * blocks * 32 + half[None, :]
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for block in range(blocks):
        index = (expert * num_out + column) * blocks + block
        left = tl.load(rows + block * 32, mask=real, other=0.0)
        right = tl.load(rows + block * 32 + 16, mask=real, other=0.0)
        first, second = unpacked(data, scales, least, index, column < num_out, FOUR_BITS)
        first, second = first.to(left.dtype), second.to(left.dtype)
        total += tl.dot(left, tl.trans(first), input_precision="ieee")
        total += tl.dot(right, tl.trans(second), input_precision="ieee")
    tl.store(
        out + entry[:, None] * num_out + column[None, :],
        total.to(out.dtype.element_ty),
        mask=real & (column < num_out)[None, :],
    )
