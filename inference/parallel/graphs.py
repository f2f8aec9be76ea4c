"""Decode steps of several ranks as CUDA graphs, each of which holds the ranks' sums too.

A replayed sum waits for the same sum of the other ranks, so all record the same sizes in the same
order, and replay the same one: the leader says which (`leader.py`). Before a size is recorded it is
computed once, which connects the ranks. No GPU has shown it.
"""

from __future__ import annotations

import logging

import torch

from inference.kernels.batch import Batch, LayerCache
from inference.model.cuda_graphs import Capture, DecodeGraphs, GraphLayout
from inference.model.decoder import Hidden
from inference.parallel.pipeline import StageModel
from inference.parallel.world import World

log = logging.getLogger(__name__)


def record_together(
    world: World,
    stage: StageModel,
    layout: GraphLayout,
    caches: list[LayerCache],
    dtype: torch.dtype,
    capture: Capture,
) -> DecodeGraphs | None:
    """Record on this rank while all others do; None on all of them where it failed on one."""

    def compute(batch: Batch, caches: list[LayerCache]) -> Hidden:
        hidden = stage.hidden(batch, caches, dtype)
        assert hidden is not None, "a pipeline's stages are not recorded"
        return hidden

    graphs = DecodeGraphs(layout, compute, capture)
    for size in layout.sizes:
        recorded = True
        try:
            graphs.record(size, caches)
        except RuntimeError as error:
            log.warning("no step of %d rows is recorded on rank %d: %s", size, world.rank, error)
            recorded = False
        if not world.least(int(recorded)):  # or who goes on would wait for who does not
            return None
    return graphs
