"""KV blocks out of a cache and into one, as bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict

import msgspec
import torch
from torch import Tensor

from inference.kernels.batch import Slots
from inference.model.config import ModelConfig


class BlockTransfer:
    """Reads and writes whole blocks of all layers.

    Bytes are those of every layer's `LayerCache.parts`, one after another, of all the slots.
    """

    def __init__(self, caches: Sequence[Slots], block_size: int, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self._parts = [part for cache in caches for part in cache.parts]
        self._block_size = block_size

    def size(self, num_blocks: int) -> int:
        """Bytes of so many blocks."""
        return sum(self._part_size(part, num_blocks) for part in self._parts)

    @torch.inference_mode()
    def read(self, block_ids: Sequence[int]) -> bytes:
        slots = self._slots(block_ids)
        parts = [part[slots].flatten().view(torch.uint8) for part in self._parts]
        return torch.cat(parts).cpu().numpy().tobytes()

    @torch.inference_mode()
    def write(self, block_ids: Sequence[int], data: bytes | memoryview) -> None:
        """Raises ValueError when `data` has another size than these blocks."""
        slots = self._slots(block_ids)
        if len(data) != self.size(len(block_ids)):
            raise ValueError(f"{len(data)} bytes are not {len(block_ids)} blocks")
        sizes = [self._part_size(part, len(block_ids)) for part in self._parts]
        received = torch.frombuffer(bytearray(data), dtype=torch.uint8).split(sizes)
        for part, own in zip(self._parts, received, strict=True):
            # Cloned: a part need not begin at a multiple of its numbers' size.
            values = own.clone().view(part.dtype).view(len(slots), *part.shape[1:])
            part[slots] = values.to(part.device)

    def _part_size(self, part: Tensor, num_blocks: int) -> int:
        return part[0].numel() * part.element_size() * num_blocks * self._block_size

    def _slots(self, block_ids: Sequence[int]) -> Tensor:
        device = self._parts[0].device
        first = torch.tensor(block_ids, device=device)[:, None] * self._block_size
        return (first + torch.arange(self._block_size, device=device)).flatten()


def fingerprint(
    config: ModelConfig,
    dtype: torch.dtype,
    kv_dtype: torch.dtype,
    block_size: int,
    num_readouts: int = 0,
) -> str:
    """Equal where blocks of one engine fit the other's cache: same sizes, types and rotation.

    The weights are not compared: who starts both engines gives both the same.
    """
    shape = {name: repr(value) for name, value in asdict(config).items()}
    kept = (str(dtype), str(kv_dtype), block_size, num_readouts)
    content = msgspec.json.encode([sorted(shape.items()), *kept])
    return hashlib.sha256(content).hexdigest()
