"""What our kernel adds for an adapter, against the same in float64."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from inference.kernels.cpu.low_rank import CpuLowRank
from inference.kernels.low_rank import LowRank, Update
from tests.support.nightly import crossed

ROWS = 5


def drawn(width: int, rank: int, columns: list[int], dtype: torch.dtype) -> tuple[LowRank, Tensor]:
    """Random numbers of some matrices of a product, without the order of any kernel."""
    ranks = rank * len(columns)
    down = torch.randn(ranks + -ranks % 4, width)
    down[ranks:] = 0
    scales = None
    if dtype is torch.int8:
        down, scales = (down * 3).clamp(-7, 7).round(), torch.rand(len(down)) / 100
    updates, first = [], 0
    for index, count in enumerate(columns):
        up = torch.randn(rank, count)
        if dtype is torch.int8:
            up = (up * 3).clamp(-7, 7).round()
        updates.append(Update(first, count, index * rank, rank, up.to(dtype)))
        first += count
    return LowRank(down.to(dtype), tuple(updates), scales), torch.randn(ROWS, width)


def rounded(rows: Tensor) -> Tensor:
    """Rows as int8 with the scale of their largest represents them."""
    largest = rows.abs().amax(-1, keepdim=True)
    return (rows * (127 / largest)).round() * (largest / 127)


def added(low: LowRank, x: Tensor) -> Tensor:
    is_rounded = low.scales is not None
    if is_rounded:
        x = rounded(x.view(ROWS, -1, 32)).view(ROWS, -1)
    shrunk = x.double() @ low.down.double().T
    if low.scales is not None:
        shrunk *= low.scales.double()
    parts = []
    for update in low.updates:
        own = shrunk[:, update.row : update.row + update.rank]
        parts.append((rounded(own) if is_rounded else own) @ update.up.double())
    return torch.cat(parts, 1)


@crossed(
    ("shape", "rank", "dtype"),
    [(96, [48, 16, 16]), (576, [576]), (32, [80, 80])],
    [1, 6, 8, 20],
    [torch.float32, torch.bfloat16, torch.float16, torch.int8],
    beside="tests/inference/test_low_rank.py::test_kernel_adds_what_torch_adds",
)
def test_kernel_adds_what_torch_adds(kernel_variants, shape, rank, dtype):
    """Ranks that fill no word, widths of an odd number of blocks, columns that fill no block. What
    is int8 here the kernel keeps in four bits."""
    width, columns = shape
    in_nibbles = dtype is torch.int8
    if in_nibbles and not kernel_variants.parley_has_int8():
        pytest.skip("no products in int8")
    torch.manual_seed(0)
    low, x = drawn(width, rank, columns, dtype)
    add = CpuLowRank(kernel_variants)
    ups = tuple(replace(each, up=add.ordered_up(each.up)) for each in low.updates)
    ordered = LowRank(add.ordered_down(low.down), ups, low.scales)
    if in_nibbles:
        assert ordered.down.nbytes == len(low.down) * -(-width // 64) * 32
    before = torch.randn(ROWS, sum(columns))
    y = before.clone()
    add(ordered, x, y)
    wanted = added(low, x)
    off = ((y - before).double() - wanted).abs().amax(1) / wanted.abs().max()
    # In int8 a number halfway between two may become either: one step of 127, of a row.
    assert off.max() < (0.01 if in_nibbles else 1e-5)
    assert (off < 1e-5).sum() >= ROWS - in_nibbles
    again = before[2:3].clone()
    add(ordered, x[2:3], again)
    assert torch.equal(again[0], y[2]), "a row depends on its neighbours"
