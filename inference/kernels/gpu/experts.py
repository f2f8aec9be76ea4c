"""Mixture of experts with one product for all experts, rows grouped by expert.

Each token's row appears once for every expert that it chose; rows are sorted by expert and
every expert's rows fill whole tiles, so that a tile needs one expert's weight. Nothing is read
back to the host, so a CUDA graph can hold it.
Source: Gale et al. 2022 (MegaBlocks), for the grouping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
import triton
import triton.language as tl
from torch import Tensor

from inference.kernels.gpu.swiglu import swiglu

_ROWS = 16
_COLUMNS = 64
_DEPTH = 32


@dataclass(frozen=True)
class Grouping:
    """Where each (token, choice) goes. P is an upper bound on the padded rows."""

    entries: Tensor
    """(P,) index of the (token, choice) in each padded row; T * choices where there is none."""
    expert_of_tile: Tensor
    """(P / tile rows,) expert of each tile."""


def group_by_expert(chosen: Tensor, num_experts: int) -> Grouping:
    """Sort the choices (T, per token) by expert, each expert padded to whole tiles."""
    flat = chosen.flatten()
    count = len(flat)
    order = flat.argsort(stable=True)
    # Not bincount: its size would be read back from the device.
    per_expert = (flat[:, None] == torch.arange(num_experts, device=flat.device)).sum(0)
    padded = (per_expert + _ROWS - 1) // _ROWS * _ROWS
    ends = padded.cumsum(0)
    ordered = flat[order]
    rank = torch.arange(count, device=flat.device) - (per_expert.cumsum(0) - per_expert)[ordered]
    max_tiles = -(-count // _ROWS) + min(num_experts, count)
    entries = torch.full((max_tiles * _ROWS,), count, device=flat.device)
    entries[(ends - padded)[ordered] + rank] = order
    tiles = torch.arange(max_tiles, device=flat.device) * _ROWS
    expert = torch.searchsorted(ends, tiles, right=True).clamp(max=num_experts - 1)
    return Grouping(entries, expert)


class ExpertMatrices(Protocol):
    """A matrix of each expert."""

    def __len__(self) -> int: ...

    def product(self, x: Tensor, grouping: Grouping, choices: int, count: int) -> Tensor:
        """Row i of the result (count, out) is x[i // choices] @ matrix[its expert].T.

        Args:
            x: (rows, in); rows are tokens, or (token, choice) pairs when `choices` is 1.
        """
        ...


class DenseExperts:
    """`ExpertMatrices` (experts, out, in) in the type that is computed in."""

    def __init__(self, weight: Tensor) -> None:
        self._weight = weight

    def __len__(self) -> int:
        return len(self._weight)

    def product(self, x: Tensor, grouping: Grouping, choices: int, count: int) -> Tensor:
        _, num_out, num_in = self._weight.shape
        out = torch.empty(count, num_out, dtype=x.dtype, device=x.device)
        _grouped_product[(len(grouping.expert_of_tile), triton.cdiv(num_out, _COLUMNS))](
            x,
            self._weight,
            out,
            grouping.entries,
            grouping.expert_of_tile,
            count,
            num_out,
            num_in,
            choices,
            ROWS=_ROWS,
            COLUMNS=_COLUMNS,
            DEPTH=_DEPTH,
        )
        return out


@triton.jit
def _grouped_product(
    x, weight, out, entries, expert_of_tile, count, num_out, num_in, choices,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    entry = tl.load(entries + tile * ROWS + tl.arange(0, ROWS))
    real = entry < count
    expert = tl.load(expert_of_tile + tile)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    rows = x + (entry // choices)[:, None] * num_in
    columns = weight + (expert * num_out + column)[:, None] * num_in
    total = tl.zeros([ROWS, COLUMNS], tl.float32)
    for begin in range(0, num_in, DEPTH):
        at = begin + tl.arange(0, DEPTH)
        inside = (at < num_in)[None, :]
        left = tl.load(rows + at[None, :], mask=real[:, None] & inside, other=0.0)
        right = tl.load(columns + at[None, :], mask=(column < num_out)[:, None] & inside, other=0.0)
        total += tl.dot(left, tl.trans(right), input_precision="ieee")
    tl.store(
        out + entry[:, None] * num_out + column[None, :],
        total.to(out.dtype.element_ty),
        mask=real[:, None] & (column < num_out)[None, :],
    )


def experts_swiglu(
    x: Tensor, chosen: Tensor, weights: Tensor, gate_up: ExpertMatrices, down: ExpertMatrices
) -> Tensor:
    """The weighted sum of what each token's experts make of it, (T, hidden).

    Args:
        x: (T, hidden).
        chosen: (T, per token) expert numbers; `weights` of the same shape.
        gate_up: 2 * inner rows of hidden; `down` hidden rows of inner.
    """
    choices, count = chosen.shape[1], chosen.numel()
    grouping = group_by_expert(chosen, len(gate_up))
    inner = swiglu(gate_up.product(x.contiguous(), grouping, choices, count))
    parts = down.product(inner, grouping, 1, count)
    weighted = parts.view(len(x), choices, -1) * weights[:, :, None].to(x.dtype)
    return weighted.sum(dim=1)
