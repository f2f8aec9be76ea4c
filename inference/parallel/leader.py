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
from inference.model.decoder import Decoder, Hidden
from inference.parallel.pipeline import StageModel
from inference.parallel.world import World


@dataclass(frozen=True)
class ComputeHidden:
    """Run the layers over a batch."""

    batch: Batch


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
        self.is_broken = False
        """Whether the ranks are no longer in one step: nothing can be sent to the others."""

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Hidden:
        with self._one_step():
            self._world.tell(ComputeHidden(_on_cpu(batch)))
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
) -> None:
    """Compute what the leader says until it ends.

    Raises:
        RuntimeError: when the leader is gone.
    """
    hidden: Hidden | None = None
    while True:
        match world.listen():
            case ComputeHidden(batch):
                hidden = stage.hidden(batch.to(device), caches, dtype)
            case ComputeLogits(rows):
                if ends is not None:
                    assert hidden is not None
                    ends.logits(hidden, rows.to(device))
            case End():
                return


def _on_cpu(batch: Batch) -> Batch:
    return batch.to(torch.device("cpu"))
