"""The ranks that share a model."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class TensorGroup:
    """This rank's place among `size` ranks that hold parts of every layer; a `RankGroup`
    (`model/layers/ranks.py`)."""

    rank: int
    size: int
    process_group: dist.ProcessGroup | None = None
    """None: all ranks of the world."""

    def part(self, total: int) -> range:
        """This rank's part of `total` things; the first ranks get what is left over."""
        least, more = divmod(total, self.size)
        begin = self.rank * least + min(self.rank, more)
        return range(begin, begin + least + (self.rank < more))

    def sum(self, x: Tensor) -> Tensor:
        """The sum of all ranks' `x`, in place."""
        dist.all_reduce(x, group=self.process_group)
        return x

    def concatenate(self, x: Tensor, total: int) -> Tensor:
        """All ranks' parts (rows, their share of `total`) side by side."""
        widest = -(-total // self.size)
        padded = torch.nn.functional.pad(x, (0, widest - x.shape[-1]))
        parts = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(parts, padded.contiguous(), group=self.process_group)
        widths = [len(TensorGroup(rank, self.size).part(total)) for rank in range(self.size)]
        return torch.cat(
            [part[..., :width] for part, width in zip(parts, widths, strict=True)], dim=-1
        )
