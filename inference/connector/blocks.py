"""KV blocks out of a cache and into one, as bytes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from inference.model.batch import LayerCache


class BlockTransfer:
    """Reads and writes whole blocks of all layers.

    Bytes are those of (layers, 2, blocks * block size, kv heads, head dim), keys first.
    """

    def __init__(self, caches: Sequence[LayerCache], block_size: int, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._caches = caches
        self._block_size = block_size

    def size(self, num_blocks: int) -> int:
        """Bytes of so many blocks."""
        row = self._caches[0].keys[0]
        slots = num_blocks * self._block_size
        return len(self._caches) * 2 * slots * row.numel() * row.element_size()

    @torch.inference_mode()
    def read(self, block_ids: Sequence[int]) -> bytes:
        slots = self._slots(block_ids)
        layers = [torch.stack((cache.keys[slots], cache.values[slots])) for cache in self._caches]
        return torch.stack(layers).cpu().view(torch.uint8).numpy().tobytes()

    @torch.inference_mode()
    def write(self, block_ids: Sequence[int], data: bytes | memoryview) -> None:
        """Raises ValueError when `data` has another size than these blocks."""
        slots = self._slots(block_ids)
        sample = self._caches[0].keys
        shape = (len(self._caches), 2, len(slots), *sample.shape[1:])
        if len(data) != self.size(len(block_ids)):
            raise ValueError(f"{len(data)} bytes are not {len(block_ids)} blocks")
        values = torch.frombuffer(bytearray(data), dtype=sample.dtype).view(shape)
        for cache, (keys, others) in zip(self._caches, values.to(sample.device), strict=True):
            cache.keys[slots] = keys
            cache.values[slots] = others

    def _slots(self, block_ids: Sequence[int]) -> Tensor:
        device = self._caches[0].keys.device
        first = torch.tensor(block_ids, device=device)[:, None] * self._block_size
        return (first + torch.arange(self._block_size, device=device)).flatten()
