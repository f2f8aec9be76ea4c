"""Which device and which type a model is computed in."""

from __future__ import annotations

import torch

from inference.config import EngineConfig


def pick_device(config: EngineConfig, rank: int = 0) -> torch.device:
    """The GPU of this rank of the host where there is one."""
    wanted = config.device
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda":
        return torch.device("cuda", rank % max(1, torch.cuda.device_count()))
    return torch.device(wanted)


def pick_dtype(config: EngineConfig, device: torch.device) -> torch.dtype:
    """bf16 on a GPU; float32 on a CPU, where it equals the reference token for token."""
    if config.dtype == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    return _named(config.dtype)


def pick_kv_dtype(config: EngineConfig, dtype: torch.dtype) -> torch.dtype:
    """How keys and values are kept unless it is said: as they are computed, or in half of the
    memory where what is computed from them is rounded anyway."""
    if config.kv_dtype == "auto":
        return torch.float16 if config.int8_activations else dtype
    return _named(config.kv_dtype)


def _named(name: str) -> torch.dtype:
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype
