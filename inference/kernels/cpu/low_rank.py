"""Adapters in the CPU's kernels: `low_rank.h`, alone and in a step that is one call."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import POINTER, Structure, c_int, c_int32, c_void_p
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from inference.kernels.cpu.address import at
from inference.kernels.low_rank import AdaptedRows, Adapter, LowRank

_KINDS = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2, torch.uint8: 3}
"""As `low_rank.h` numbers them; bytes hold two numbers of four bits."""
_MAX_UPDATES = 3
_UP_COLUMNS = 32
"""`kUpColumns`."""
_TOGETHER = 4
"""`kTogether`, of ranks in four bits."""
_UNIT = 64
"""`kUnit`, of a row of `down` in four bits."""
_COUNTED_FROM = -8
"""`kCountedFrom`."""


class _Update(Structure):
    _fields_ = [
        ("first", c_int),
        ("columns", c_int),
        ("row", c_int),
        ("rank", c_int),
        ("up", c_void_p),
    ]


class _LowRank(Structure):
    _fields_ = [
        ("ranks", c_int),
        ("count", c_int),
        ("down", c_void_p),
        ("scales", c_void_p),
        ("updates", _Update * _MAX_UPDATES),
    ]


class Adapters(Structure):
    """`ParleyAdapters`."""

    _fields_ = [
        ("tables", POINTER(c_void_p)),
        ("of", c_void_p),
        ("count", c_int),
        ("kind", c_int),
        ("max_ranks", c_int),
    ]


@dataclass(frozen=True)
class _Table:
    """An adapter as `decode.h` takes it."""

    entries: ctypes.Array[_LowRank]
    max_ranks: int


class AdapterTables:
    """The adapters of steps, as `decode.h` takes them, for the products of some layers."""

    def __init__(self, names: Sequence[str]) -> None:
        """
        Args:
            names: of the products: four a layer, in the order of `decode.h`.
        """
        self._names = names
        self._tables: WeakKeyDictionary[Adapter, _Table] = WeakKeyDictionary()
        self._alive: tuple[object, ...] = ()

    def of(self, rows: Sequence[AdaptedRows], count: int) -> Adapters:
        """Those of a step of `count` rows; valid until the next call."""
        if not rows:
            return Adapters()
        adapters = list(dict.fromkeys(each.adapter for each in rows))
        of = [-1] * count
        for each in rows:
            of[each.begin : each.end] = [adapters.index(each.adapter)] * (each.end - each.begin)
        of_rows = (c_int32 * count)(*of)
        found = [self._table(adapter) for adapter in adapters]
        tables = (c_void_p * len(found))(*(ctypes.addressof(table.entries) for table in found))
        self._alive = (of_rows, tables, adapters, found)
        ranks = max(table.max_ranks for table in found)
        kind = _KINDS[adapters[0].dtype]
        return Adapters(tables, ctypes.addressof(of_rows), len(found), kind, ranks)

    def _table(self, adapter: Adapter) -> _Table:
        table = self._tables.get(adapter)
        if table is None:
            found = [adapter.updates.get(name) for name in self._names]
            entries = (_LowRank * len(found))(*(low_rank(one) for one in found))
            ranks = max(len(low.down) for low in adapter.updates.values())
            table = self._tables[adapter] = _Table(entries, ranks)
        return table


def low_rank(low: LowRank | None) -> _LowRank:
    """`ParleyLowRank` of what an adapter adds to a product, or of nothing."""
    if low is None:
        return _LowRank()
    updates = [
        _Update(update.first, update.columns, update.row, update.rank, at(update.up))
        for update in low.updates
    ]
    filled = (_Update * _MAX_UPDATES)(*updates)
    return _LowRank(len(low.down), len(updates), at(low.down), at(low.scales), filled)


class CpuLowRank:
    """`Adds` by our kernel, with the bits that a step of few rows has. Whole numbers are kept in
    four bits, as `low_rank_nibbles.h` reads them."""

    largest_whole = 7

    def __init__(self, kernels: ctypes.CDLL) -> None:
        self._kernels = kernels

    def ordered_down(self, down: Tensor) -> Tensor:
        if down.dtype is not torch.int8:
            return down
        filled = torch.nn.functional.pad(down, (0, -down.shape[1] % _UNIT))
        return _in_nibbles(filled.view(len(down), -1, 2, _UNIT // 2), 2).flatten(1)

    def ordered_up(self, up: Tensor) -> Tensor:
        in_nibbles = up.dtype is torch.int8
        together = _TOGETHER if in_nibbles else 1
        rank, columns = up.shape
        filled = torch.nn.functional.pad(up, (0, -columns % _UP_COLUMNS, 0, -rank % together))
        blocks = filled.view(len(filled) // together, together, -1, _UP_COLUMNS)
        ordered = blocks.permute(2, 0, 3, 1)
        if in_nibbles:
            return _in_nibbles(ordered.unflatten(2, (2, _UP_COLUMNS // 2)), 2)
        return ordered.contiguous()

    def __call__(self, low: LowRank, x: Tensor, y: Tensor) -> None:
        x = x.contiguous()
        self._kernels.parley_add_low_rank(
            *(ctypes.byref(low_rank(low)), _KINDS[low.down.dtype], at(x), at(y)),
            *(len(x), x.shape[1], y.shape[1], y.stride(0)),
        )


def _in_nibbles(numbers: Tensor, sides: int) -> Tensor:
    """Two numbers a byte, whose dimension `sides` has both: the first in the low nibble."""
    low, high = (numbers - _COUNTED_FROM).to(torch.uint8).unbind(sides)
    return (low | high << 4).contiguous()
