"""Decode steps as CUDA graphs: one launch a step instead of hundreds.

A graph is recorded for each of a few batch sizes, over tensors that stay where they are; a step
copies its batch into them, filled up to the next size with rows that write to a slot that
is never read. Block tables are as wide as the longest sequence, so that the kernels' grids, which
follow the width, never change. Steps with chunks of prompts run as they are.

Written for GPUs with the Triton backend; no GPU was at hand to run it on. What records is a
`Capture`, so that all but the recording itself is tested without one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from inference.kernels.batch import Batch, DecodeBatch, LayerCache, Places
from inference.model.decoder import Decoder, Hidden

_SIZES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256)


class Capture(Protocol):
    """Records a computation, to be done again over the tensors that it was recorded over."""

    def __call__(self, compute: Callable[[], Hidden]) -> tuple[Callable[[], None], Hidden]:
        """What computes again, and where its results lie then."""
        ...


class CudaCapture:
    """By CUDA graphs, which share the memory of the first: the largest comes first."""

    def __init__(self) -> None:
        self._pool: Any = None  # torch's type of it is private

    def __call__(self, compute: Callable[[], Hidden]) -> tuple[Callable[[], None], Hidden]:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):  # compiles kernels, and connects ranks, outside the graph
            compute()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # What other threads ask of the device (NCCL's watchdog does) is no part of it.
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            hidden = compute()
        self._pool = graph.pool()
        return graph.replay, hidden


@dataclass(frozen=True)
class GraphLayout:
    """What is recorded: the same on all ranks of a model."""

    sizes: tuple[int, ...]
    """Rows of each graph, the largest first."""
    table_width: int
    """Blocks of the longest sequence."""
    block_size: int
    spare_slot: int
    """A slot of the cache that belongs to no block of the pool."""
    windowed_spare_slot: int | None = None
    """The same of the caches of layers with a window, where these have a pool of their own."""

    @classmethod
    def up_to(
        cls,
        max_rows: int,
        table_width: int,
        block_size: int,
        spare_slot: int,
        windowed_spare_slot: int | None = None,
    ) -> GraphLayout:
        """`max_rows`: the largest batch of single tokens that is recorded."""
        sizes = tuple(size for size in reversed(_SIZES) if size <= max_rows)
        return cls(sizes, table_width, block_size, spare_slot, windowed_spare_slot)

    def size_for(self, batch: Batch) -> int | None:
        """The least graph that holds a batch; None where none does. It follows from the batch
        alone, whichever rank asks."""
        if batch.prefill or batch.decode is None:
            return None
        if batch.decode.tables.shape[1] > self.table_width:
            return None
        if batch.adapters or batch.positions.dim() > 1:
            return None  # which adapters a step has, and images' positions, are not recorded
        rows = len(batch.token_ids)
        return min((size for size in self.sizes if size >= rows), default=None)


@dataclass(frozen=True)
class _Recorded:
    replay: Callable[[], None]
    batch: Batch
    hidden: Hidden


class DecodeGraphs:
    """A graph for each size of a layout."""

    def __init__(
        self,
        layout: GraphLayout,
        compute: Callable[[Batch, list[LayerCache]], Hidden],
        capture: Capture,
    ) -> None:
        """Nothing is recorded yet: `record` does."""
        self.layout = layout
        self._compute = compute
        self._capture = capture
        self._recorded: dict[int, _Recorded] = {}

    @torch.inference_mode()
    def record(self, size: int, caches: list[LayerCache]) -> None:
        """Record one of the layout's sizes."""
        batch = self._empty(size, caches[0].keys.device)
        replay, hidden = self._capture(lambda: self._compute(batch, caches))
        self._recorded[size] = _Recorded(replay, batch, hidden)

    def replay(self, size: int, batch: Batch) -> Hidden:
        """Compute a batch by the graph of this size."""
        recorded = self._recorded[size]
        self._fill(recorded.batch, batch)
        recorded.replay()
        x, delta = recorded.hidden
        rows = len(batch.token_ids)
        return x[:rows], delta[:rows]

    def _empty(self, size: int, device: torch.device) -> Batch:
        def zeros(*shape: int, dtype: torch.dtype = torch.long) -> Tensor:
            return torch.zeros(*shape, dtype=dtype, device=device)

        def places(spare_slot: int) -> Places:
            lengths = torch.ones(size, dtype=torch.int32, device=device)
            tables = zeros(size, self.layout.table_width, dtype=torch.int32)
            slots = torch.full((size,), spare_slot, device=device)
            return Places(slots, DecodeBatch(tables, lengths, self.layout.block_size), ())

        own = self.layout.windowed_spare_slot
        of_all = places(self.layout.spare_slot)
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
        _fill_places(to.places, batch.places, self.layout.spare_slot)
        if self.layout.windowed_spare_slot is not None:
            assert to.windowed is not None and batch.windowed is not None
            _fill_places(to.windowed, batch.windowed, self.layout.windowed_spare_slot)


def _fill_places(to: Places, places: Places, spare_slot: int) -> None:
    assert to.decode is not None and places.decode is not None
    rows, width = places.decode.tables.shape
    to.slots.fill_(spare_slot)
    to.slots[:rows].copy_(places.slots)
    to.decode.tables.zero_()
    to.decode.tables[:rows, :width].copy_(places.decode.tables)
    to.decode.lengths.fill_(1)
    to.decode.lengths[:rows].copy_(places.decode.lengths)


class GraphedModel:
    """A `Decoder` whose decode steps are replayed."""

    def __init__(self, model: Decoder, layout: GraphLayout, capture: Capture | None = None) -> None:
        """Nothing is recorded yet: `record` does."""
        self.config = model.config
        self._model = model
        self._graphs = DecodeGraphs(layout, model.hidden, capture or CudaCapture())

    def record(self, caches: list[LayerCache]) -> None:
        """Record every size, in the layout's order."""
        for size in self._graphs.layout.sizes:
            self._graphs.record(size, caches)

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Hidden:
        size = self._graphs.layout.size_for(batch)
        if size is None:
            return self._model.hidden(batch, caches)
        return self._graphs.replay(size, batch)

    def normed(self, hidden: Hidden, rows: Tensor) -> Tensor:
        return self._model.normed(hidden, rows)

    def logits(self, hidden: Hidden, rows: Tensor) -> Tensor:
        return self._model.logits(hidden, rows)
