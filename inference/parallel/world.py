"""All ranks of one model: which part each has, and how they talk."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from inference.errors import ModelLoadError
from inference.parallel.group import TensorGroup

_TIMEOUT = timedelta(days=7)
"""How long a rank waits for another: an idle engine tells its ranks nothing for days."""


@dataclass(frozen=True)
class World:
    """This rank's place: rank = stage * tensor size + place within the stage."""

    rank: int
    tensor: TensorGroup
    stage: int
    stages: int
    control: dist.ProcessGroup
    """For commands, on CPUs whatever computes."""

    @classmethod
    def join(cls, rank: int, tensor_size: int, stages: int, address: str, backend: str) -> World:
        """Meet the other ranks at `address` (an init_method of torch.distributed).

        Blocks until all are there.
        """
        dist.init_process_group(
            backend, init_method=address, rank=rank, world_size=tensor_size * stages,
            timeout=_TIMEOUT,
        )  # fmt: skip
        control = dist.new_group(backend="gloo", timeout=_TIMEOUT)
        own: dist.ProcessGroup | None = None
        for stage in range(stages):  # every rank takes part in making every group
            ranks = list(range(stage * tensor_size, (stage + 1) * tensor_size))
            group = dist.new_group(ranks, timeout=_TIMEOUT)
            if rank in ranks:
                own = group
        assert own is not None and control is not None
        tensor = TensorGroup(rank % tensor_size, tensor_size, own)
        return cls(rank, tensor, rank // tensor_size, stages, control)

    @property
    def is_first_stage(self) -> bool:
        return self.stage == 0

    @property
    def is_last_stage(self) -> bool:
        return self.stage == self.stages - 1

    def layers(self, total: int) -> range:
        """The layers of this rank's stage."""
        if total < self.stages:
            raise ModelLoadError(f"{total} layers cannot be split over {self.stages} stages")
        return TensorGroup(self.stage, self.stages).part(total)

    def peer(self, stage: int) -> int:
        """The rank with this rank's place in another stage."""
        return stage * self.tensor.size + self.tensor.rank

    def least(self, value: int) -> int:
        """The smallest of all ranks' values."""
        held = torch.tensor([value])
        dist.all_reduce(held, dist.ReduceOp.MIN, group=self.control)
        return int(held)

    def tell(self, message: Any) -> None:
        """Rank 0's message to all others, who `listen`."""
        dist.broadcast_object_list([message], src=0, group=self.control)

    def listen(self) -> Any:
        """The next message of rank 0; RuntimeError when it is gone."""
        held: list[Any] = [None]
        dist.broadcast_object_list(held, src=0, group=self.control)
        return held[0]
