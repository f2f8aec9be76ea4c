"""Copies of KV blocks in host memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from inference.core import BlockCopies
from inference.kernels.batch import Slots


class SwapMemory:
    """Room for `num_blocks` blocks of all layers, pinned where the cache is on a GPU."""

    def __init__(self, caches: Sequence[Slots], block_size: int, num_blocks: int) -> None:
        self._block_size = block_size
        self._parts: list[tuple[Tensor, Tensor]] = []
        """(cache, host memory) of keys and values of every layer, and of their scales."""
        for cache in caches:
            for part in cache.parts:
                host = torch.empty(
                    (num_blocks * block_size, *part.shape[1:]),
                    dtype=part.dtype,
                    pin_memory=part.is_cuda,
                )
                self._parts.append((part, host))

    @torch.inference_mode()
    def copy(self, copies: BlockCopies) -> None:
        """Make the copies; they are done when this returns."""
        blocks_out, host_out = self._slots(copies.out)
        host_back, blocks_back = self._slots(copies.back)
        for cache, host in self._parts:
            if copies.out:
                host[host_out] = cache[blocks_out.to(cache.device)].to(host.device)
            if copies.back:
                cache[blocks_back.to(cache.device)] = host[host_back].to(cache.device)

    def _slots(self, pairs: Sequence[tuple[int, int]]) -> tuple[Tensor, Tensor]:
        """The slots of the pairs' first blocks, and of their second."""
        first = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2) * self._block_size
        slots = first[:, :, None] + torch.arange(self._block_size)
        return slots[:, 0].flatten(), slots[:, 1].flatten()
