"""KV blocks out of a cache and into one, as bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict

import msgspec
import numpy as np
import torch
from torch import Tensor

from inference.kernels.batch import Slots
from inference.model.config import ModelConfig


class BlockTransfer:
    """Reads and writes whole blocks, of one layer or of all.

    A layer's bytes are those of its `LayerCache.parts`, one after another, each of all the blocks.
    What is kept for each token beside keys and values counts as a layer after the others.
    """

    def __init__(self, caches: Sequence[Slots], block_size: int, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.block_size = block_size
        self._layers = [[_rows(part, block_size) for part in cache.parts] for cache in caches]
        self._sizes = [sum(part.shape[1] for part in layer) for layer in self._layers]

    @property
    def num_layers(self) -> int:
        return len(self._layers)

    def size(self, num_blocks: int) -> int:
        """Bytes of so many blocks of all layers."""
        return num_blocks * sum(self._sizes)

    def layer_size(self, layer: int, num_blocks: int) -> int:
        return num_blocks * self._sizes[layer]

    def place(self, layer: int, block: int, num_blocks: int) -> int:
        """Where a block of a layer lies among `num_blocks` of all layers, layer after layer."""
        return num_blocks * sum(self._sizes[:layer]) + block * self._sizes[layer]

    def read(self, block_ids: Sequence[int]) -> bytes:
        """All layers."""
        return _gathered([part for layer in self._layers for part in layer], block_ids)

    def read_layer(self, layer: int, block_ids: Sequence[int]) -> bytes:
        """One layer; on a GPU this waits until it is computed."""
        return _gathered(self._layers[layer], block_ids)

    def write(self, block_ids: Sequence[int], data: bytes | memoryview) -> None:
        """All layers. Raises ValueError when `data` has another size than these blocks."""
        _scatter([part for layer in self._layers for part in layer], block_ids, data)

    def write_layer(self, layer: int, block_ids: Sequence[int], data: bytes | memoryview) -> None:
        """One layer, in any thread while steps leave these blocks alone.

        Raises ValueError when `data` has another size than these blocks.
        """
        _scatter(self._layers[layer], block_ids, data)


def _rows(part: Tensor, block_size: int) -> Tensor:
    """The bytes of whole blocks, (blocks, bytes)."""
    num_blocks = len(part) // block_size
    return part[: num_blocks * block_size].view(torch.uint8).view(num_blocks, -1)


@torch.inference_mode()
def _gathered(parts: Sequence[Tensor], block_ids: Sequence[int]) -> bytes:
    rows = torch.tensor(block_ids, dtype=torch.long, device=parts[0].device)
    return torch.cat([part[rows].flatten() for part in parts]).cpu().numpy().tobytes()


def _scatter(parts: Sequence[Tensor], block_ids: Sequence[int], data: bytes | memoryview) -> None:
    """Raises ValueError when `data` has another size than these blocks."""
    sizes = [len(block_ids) * part.shape[1] for part in parts]
    if len(data) != sum(sizes):
        raise ValueError(f"{len(data)} bytes are not {len(block_ids)} blocks")
    received = np.frombuffer(data, np.uint8)
    begin = 0
    for part, size in zip(parts, sizes, strict=True):
        _put(part, block_ids, received[begin : begin + size].reshape(len(block_ids), -1))
        begin += size


def _put(part: Tensor, block_ids: Sequence[int], rows: np.ndarray) -> None:
    if part.device.type == "cpu":
        # NumPy copies in one thread: torch would take as many as a step has, which runs beside it.
        part.numpy()[list(block_ids)] = rows
        return
    with torch.inference_mode():
        part[torch.tensor(block_ids, device=part.device)] = torch.tensor(rows).to(part.device)


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
