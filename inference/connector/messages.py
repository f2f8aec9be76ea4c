"""What the two engines say to each other, encoded with msgspec."""

from __future__ import annotations

import hashlib
from dataclasses import asdict

import msgspec
import torch

from inference.model.config import ModelConfig


class PrefillRequest(msgspec.Struct, frozen=True):
    """Compute this prompt and hand over its full blocks."""

    model: str
    """`fingerprint` of the model that asks."""
    token_ids: list[int]
    cache_salt: str = ""
    shared_memory: bool = False
    """Whether both are on one host."""
    api_key: str = ""
    """What the prefill engine was told to ask for."""


class PrefillAnswer(msgspec.Struct, frozen=True):
    """The blocks, or why there are none. One of `data` and `segment` is given."""

    num_blocks: int = 0
    data: bytes = b""
    segment: str = ""
    """Name of a shared memory segment, which the receiver removes."""
    error: str = ""


def fingerprint(
    config: ModelConfig, dtype: torch.dtype, kv_dtype: torch.dtype, block_size: int
) -> str:
    """Equal where blocks of one engine fit the other's cache: same sizes, types and rotation.

    Whether the weights are the same is for whoever starts both engines.
    """
    shape = {name: repr(value) for name, value in asdict(config).items()}
    content = msgspec.json.encode([sorted(shape.items()), str(dtype), str(kv_dtype), block_size])
    return hashlib.sha256(content).hexdigest()
