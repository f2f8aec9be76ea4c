"""One rank's part of a decoder: its layers, and for the first stage embedding and logits.

The first stage also has the end of the model: the last stage hands its result back, so that
the rank that samples needs only its own tensor group for norms and logits.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor

from inference.kernels.batch import Batch, LayerCache
from inference.model.decoder import Decoder, Hidden, Layers
from inference.parallel.micro_batches import split
from inference.parallel.world import World


class StageModel:
    def __init__(self, world: World, layers: Layers, ends: Decoder | None) -> None:
        """`ends`: the whole model's embedding, norm and logits, for the first stage."""
        self._world = world
        self._layers = layers
        self._ends = ends

    @property
    def can_be_recorded(self) -> bool:
        """Whether a CUDA graph can hold all of it: not what stages hand one another."""
        return self._world.stages == 1 and self._layers.can_be_recorded

    def hidden(self, batch: Batch, caches: list[LayerCache], dtype: torch.dtype) -> Hidden | None:
        """Compute this stage's layers; on the first stage, what comes out of the last one."""
        world = self._world
        parts = split(batch, world.stages)
        sending: list[dist.Work] = []
        kept: list[Hidden] = []  # a tensor that is being sent must live
        for part in parts:
            if self._ends is not None:
                x, delta = self._ends.embed(part), None
            else:
                x, delta = self._receive(world.peer(world.stage - 1), part, dtype)
            out = self._layers(x, delta, part, caches)
            kept.append(out)
            if world.stages > 1:
                receiver = world.peer(0 if world.is_last_stage else world.stage + 1)
                for tensor in out:
                    work = dist.isend(tensor.contiguous(), receiver)
                    assert work is not None
                    sending.append(work)
        results = kept
        if world.stages > 1 and world.is_first_stage:
            last = world.peer(world.stages - 1)
            results = [self._receive(last, part, dtype) for part in parts]
        for work in sending:
            work.wait()
        if not world.is_first_stage:
            return None
        xs, deltas = zip(*results, strict=True)
        return torch.cat(xs), torch.cat(deltas)

    def _receive(self, sender: int, batch: Batch, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        shape = (len(batch.token_ids), self._layers.config.hidden_size)
        x, delta = (torch.empty(shape, dtype=dtype, device=batch.slots.device) for _ in range(2))
        dist.recv(x, sender)
        dist.recv(delta, sender)
        return x, delta
