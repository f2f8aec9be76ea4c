"""Memory for weights: pages of 2 MiB where the system has them, many matrices in a region.

A decode step reads all weights, a quarter faster so (docs/decisions/0010). In a region of its own
each matrix would waste a part of its last page.
"""

from __future__ import annotations

import contextlib
import mmap

import torch
from torch import Tensor

_REGION_BYTES = 64 * 2**20
_ALIGNMENT = 64  # of a vector


class LargePages:
    """Hands out parts of regions, which live as long as one of their parts does."""

    def __init__(self) -> None:
        self._region = torch.empty(0, dtype=torch.uint8)

    def take(self, size: int) -> Tensor:
        """`size` bytes of zeros."""
        whole = -(-size // _ALIGNMENT) * _ALIGNMENT
        if whole > len(self._region):
            self._region = _region(max(whole, _REGION_BYTES))
        part, self._region = self._region[:size], self._region[whole:]
        return part

    def copy(self, tensor: Tensor) -> Tensor:
        place = self.take(tensor.nbytes).view(tensor.dtype).view(tensor.shape)
        return place.copy_(tensor)


def _region(size: int) -> Tensor:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):  # a kernel without them
            memory.madvise(mmap.MADV_HUGEPAGE)
    return torch.frombuffer(memory, dtype=torch.uint8)
