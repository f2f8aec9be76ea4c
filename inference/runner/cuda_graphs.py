"""Decode steps as CUDA graphs: one launch a step instead of hundreds.

A graph is recorded for each of a few batch sizes, over tensors that stay where they are; a step
copies its batch into them, filled up to the next size with rows that write to a slot that
is never read. Block tables are as wide as the longest sequence, so that the kernels' grids, which
follow the width, never change. Steps with chunks of prompts run as they are.

Written for GPUs with the Triton backend; no GPU was at hand to run it on.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from inference.kernels.batch import Batch, DecodeBatch, LayerCache, Places
from inference.model.decoder import Decoder, Hidden
from inference.model.kv_memory import BlockCounts

_SIZES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)


@dataclass(frozen=True)
class _Recorded:
    graph: torch.cuda.CUDAGraph
    batch: Batch
    hidden: Hidden


class GraphedModel:
    """A `Decoder` whose decode steps are replayed."""

    def __init__(
        self,
        model: Decoder,
        max_rows: int,
        table_width: int,
        block_size: int,
        counts: BlockCounts,
    ) -> None:
        """Nothing is recorded yet: `record` does.

        Args:
            max_rows: the largest batch of single tokens that is recorded.
            table_width: blocks of the longest sequence.
            counts: of the pools; every cache has a block more than its pool, to which the rows
                that are left over write.
        """
        self.config = model.config
        self._model = model
        self._sizes = [size for size in _SIZES if size <= max_rows]
        self._width = table_width
        self._block_size = block_size
        self._spare_slot = counts.num_blocks * block_size
        self._windowed_spare_slot = (
            None if counts.windowed is None else counts.windowed.num_blocks * block_size
        )
        self._recorded: dict[int, _Recorded] = {}

    @torch.inference_mode()
    def record(self, caches: list[LayerCache]) -> None:
        """Record every size, the largest first, so that all share its memory."""
        pool = None
        for size in reversed(self._sizes):
            batch = self._empty(size, caches[0].keys.device)
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):  # compiles the kernels outside the graph
                self._model.hidden(batch, caches)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool):
                hidden = self._model.hidden(batch, caches)
            pool = graph.pool()
            self._recorded[size] = _Recorded(graph, batch, hidden)

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Hidden:
        size = self._size_for(batch)
        if size is None:
            return self._model.hidden(batch, caches)
        recorded = self._recorded[size]
        self._fill(recorded.batch, batch)
        recorded.graph.replay()
        x, delta = recorded.hidden
        rows = len(batch.token_ids)
        return x[:rows], delta[:rows]

    def normed(self, hidden: Hidden, rows: Tensor) -> Tensor:
        return self._model.normed(hidden, rows)

    def logits(self, hidden: Hidden, rows: Tensor) -> Tensor:
        return self._model.logits(hidden, rows)

    def _size_for(self, batch: Batch) -> int | None:
        if batch.prefill or batch.decode is None or batch.decode.tables.shape[1] > self._width:
            return None
        if batch.adapters:
            return None  # which adapters a step has is not recorded
        rows = len(batch.token_ids)
        return next((size for size in self._recorded_sizes() if size >= rows), None)

    def _recorded_sizes(self) -> list[int]:
        return sorted(self._recorded)

    def _empty(self, size: int, device: torch.device) -> Batch:
        def zeros(*shape: int, dtype: torch.dtype = torch.long) -> Tensor:
            return torch.zeros(*shape, dtype=dtype, device=device)

        def places(spare_slot: int) -> Places:
            lengths = torch.ones(size, dtype=torch.int32, device=device)
            tables = zeros(size, self._width, dtype=torch.int32)
            slots = torch.full((size,), spare_slot, device=device)
            return Places(slots, DecodeBatch(tables, lengths, self._block_size), ())

        own = self._windowed_spare_slot
        of_all = places(self._spare_slot)
        return Batch(
            token_ids=zeros(size),
            positions=zeros(size),
            slots=of_all.slots,
            decode=of_all.decode,
            prefill=(),
            logits_rows=zeros(0),
            windowed=None if own is None else places(own),
        )

    def _fill(self, to: Batch, batch: Batch) -> None:
        """Copy a step into a recorded batch; rows left over write to the spare slots."""
        rows = len(batch.token_ids)
        to.token_ids[:rows].copy_(batch.token_ids)
        to.positions[:rows].copy_(batch.positions)
        _fill_places(to.places, batch.places, self._spare_slot)
        if self._windowed_spare_slot is not None:
            assert to.windowed is not None and batch.windowed is not None
            _fill_places(to.windowed, batch.windowed, self._windowed_spare_slot)


def _fill_places(to: Places, places: Places, spare_slot: int) -> None:
    assert to.decode is not None and places.decode is not None
    rows, width = places.decode.tables.shape
    to.slots.fill_(spare_slot)
    to.slots[:rows].copy_(places.slots)
    to.decode.tables.zero_()
    to.decode.tables[:rows, :width].copy_(places.decode.tables)
    to.decode.lengths.fill_(1)
    to.decode.lengths[:rows].copy_(places.decode.lengths)
