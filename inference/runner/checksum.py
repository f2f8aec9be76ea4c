"""Checksums of KV blocks, to notice memory that changed behind the engine's back."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from inference.kernels.batch import Slots

_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32}
_ODD_BITS = 0x9E3779B97F4A7C15 - (1 << 64)


class BlockChecksums:
    """Sums of a block's bits, each number weighted by an odd number of its own, modulo 2^64.

    An odd weight has an inverse, so one number changed alone always changes the sum. This
    finds faults, not forgeries.
    """

    def __init__(self, caches: Sequence[Slots], block_size: int) -> None:
        self._caches = caches
        self._block_size = block_size

    @torch.inference_mode()
    def __call__(self, block_ids: Sequence[int]) -> list[int]:
        """One number for each block, over keys and values of all layers."""
        device = self._caches[0].parts[0].device
        first = torch.tensor(block_ids, device=device)[:, None] * self._block_size
        slots = first + torch.arange(self._block_size, device=device)
        totals = torch.zeros(len(block_ids), dtype=torch.int64, device=device)
        for cache in self._caches:
            for part in cache.parts:
                numbers = part[slots].view(_INTEGERS[part.element_size()]).flatten(1)
                totals = totals * 31 + (numbers * _weights(numbers)).sum(dim=1)
        return totals.tolist()


def _weights(numbers: Tensor) -> Tensor:
    """An odd int64 for every column."""
    columns = torch.arange(numbers.shape[1], dtype=torch.int64, device=numbers.device)
    return (columns * _ODD_BITS) | 1
