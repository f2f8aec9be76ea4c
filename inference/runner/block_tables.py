"""Block tables of decode requests, kept between steps: a step writes what is new in them.

A table of a context of 32,768 tokens has 2,048 entries and gets one more every 16 steps; built anew
it would cost its whole length at each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from inference.core import Request


@dataclass
class _Row:
    index: int
    block_ids: list[int]
    """Its table's own list, which grows at its end only; another list is another table."""
    written: int = 0


class BlockTables:
    """A tensor with a row for each request that decodes, made larger when it has to be."""

    def __init__(self, width: int, device: torch.device, group: int = 0) -> None:
        """
        Args:
            width: blocks of the longest sequence.
            group: which of a request's tables.
        """
        self._width = width
        self._group = group
        self._device = device
        self._tables = torch.zeros(0, width, dtype=torch.int32, device=device)
        self._rows: WeakKeyDictionary[Request, _Row] = WeakKeyDictionary()

    def of(self, requests: list[Request], width: int) -> Tensor:
        """(requests, width) int32: the first blocks of each, padded with 0. A request may be there
        several times."""
        indices = torch.tensor([self._row(request) for request in requests], device=self._device)
        # Indexing would wake torch's threads for a long table, which costs more than the copy.
        return self._tables[:, :width].index_select(0, indices)

    def _row(self, request: Request) -> int:
        row, block_ids = self._rows.get(request), request.tables[self._group].block_ids
        if row is None or row.block_ids is not block_ids:
            index = self._free_row() if row is None else row.index
            self._tables[index].zero_()
            row = self._rows[request] = _Row(index, block_ids)
        new = block_ids[row.written :]
        if new:
            ids = torch.tensor(new, dtype=torch.int32)
            self._tables[row.index, row.written : row.written + len(new)].copy_(ids)
            row.written += len(new)
        return row.index

    def _free_row(self) -> int:
        taken = {row.index for row in self._rows.values()}
        index = next(i for i in range(len(taken) + 1) if i not in taken)
        if index >= len(self._tables):
            more = torch.zeros(
                max(8, len(self._tables)), self._width, dtype=torch.int32, device=self._device
            )
            self._tables = torch.cat((self._tables, more))
        return index
