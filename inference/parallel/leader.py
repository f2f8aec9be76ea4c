"""Rank 0 has the engine; the others compute what it computes.

Before each collective computation the leader broadcasts what it is, and every rank runs it on
its own part with its own KV cache, whose slots are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from inference.errors import EngineBrokenError
from inference.kernels.batch import Batch, LayerCache
from inference.model.cuda_graphs import Capture, DecodeGraphs, GraphLayout
from inference.model.decoder import Decoder, Hidden
from inference.parallel.graphs import record_together
from inference.parallel.pipeline import StageModel
from inference.parallel.world import World


@dataclass(frozen=True)
class ComputeHidden:
    """Run the layers over a batch."""

    batch: Batch
    size: int | None = None
    """By the graph of so many rows; as they are where None."""


@dataclass(frozen=True)
class RecordGraphs:
    """Record decode steps, each rank with the others."""

    layout: GraphLayout


@dataclass(frozen=True)
class ComputeLogits:
    """Logits of these rows of the last batch."""

    rows: Tensor


@dataclass(frozen=True)
class End:
    """The engine ends."""


class LeadingModel:
    """What the runner of rank 0 sees: a decoder like `Decoder`."""

    def __init__(self, world: World, stage: StageModel, ends: Decoder, dtype: torch.dtype):
        self.config = ends.config
        self._world = world
        self._stage = stage
        self._ends = ends
        self._dtype = dtype
        self._graphs: DecodeGraphs | None = None
        self.is_broken = False
        """Whether the ranks are no longer in one step: nothing can be sent to the others."""

    def record(self, layout: GraphLayout, capture: Capture, caches: list[LayerCache]) -> bool:
        """Record decode steps on all ranks; whether each of them could, else none is replayed."""
        with self._one_step():
            self._world.tell(RecordGraphs(layout))
            self._graphs = record_together(
                self._world, self._stage, layout, caches, self._dtype, capture
            )
        return self._graphs is not None

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Hidden:
        size = self._graphs.layout.size_for(batch) if self._graphs is not None else None
        with self._one_step():
            self._world.tell(ComputeHidden(_on_cpu(batch), size))
            if self._graphs is not None and size is not None:
                return self._graphs.replay(size, batch)
            hidden = self._stage.hidden(batch, caches, self._dtype)
        assert hidden is not None
        return hidden

    def normed(self, hidden: Hidden, rows: Tensor) -> Tensor:
        return self._ends.normed(hidden, rows)

    def logits(self, hidden: Hidden, rows: Tensor) -> Tensor:
        with self._one_step():
            self._world.tell(ComputeLogits(rows.cpu()))
            return self._ends.logits(hidden, rows)

    def close(self) -> None:
        """Let the other ranks end, if they listen."""
        if not self.is_broken:
            self._world.tell(End())

    @contextmanager
    def _one_step(self) -> Iterator[None]:
        """A failure on this rank alone leaves the others in the middle of a step, where they wait
        for this one: whatever it computed next with them would be wrong.

        Raises:
            EngineBrokenError: for any failure inside.
        """
        try:
            yield
        except Exception as error:
            self.is_broken = True
            raise EngineBrokenError(f"the ranks are not in one step any more: {error!r}") from error


@torch.inference_mode()
def follow(
    world: World,
    stage: StageModel,
    ends: Decoder | None,
    caches: list[LayerCache],
    dtype: torch.dtype,
    device: torch.device,
    capture: Capture | None = None,
) -> None:
    """Compute what the leader says until it ends.

    Args:
        capture: what records, where this rank may.
    Raises:
        RuntimeError: when the leader is gone, or says what this rank cannot.
    """
    hidden: Hidden | None = None
    graphs: DecodeGraphs | None = None
    while True:
        match world.listen():
            case RecordGraphs(layout):
                if capture is None:
                    raise RuntimeError("the leader records graphs and this rank may not")
                graphs = record_together(world, stage, layout, caches, dtype, capture)
            case ComputeHidden(batch, None):
                hidden = stage.hidden(batch.to(device), caches, dtype)
            case ComputeHidden(batch, int(size)):
                if graphs is None:
                    raise RuntimeError(f"no graph of {size} rows is recorded on this rank")
                hidden = graphs.replay(size, batch.to(device))
            case ComputeLogits(rows):
                if ends is not None:
                    assert hidden is not None
                    ends.logits(hidden, rows.to(device))
            case End():
                return


def _on_cpu(batch: Batch) -> Batch:
    return batch.to(torch.device("cpu"))
