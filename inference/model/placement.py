"""Which device, type and rounding a model is computed with."""

from __future__ import annotations

import torch

from inference.config import EngineConfig
from inference.model.build import can_round_activations
from inference.model.files.weights import WeightReader
from inference.quantization.precision import Precision


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


def pick_precision(
    config: EngineConfig, reader: WeightReader, dtype: torch.dtype, device: torch.device
) -> Precision:
    """What was asked for; `auto` rounds activations where that can be had, of a model that makes
    answers: what vectors are compared with was computed elsewhere, and exactly."""
    asked = config.int8_activations
    rounds = asked in ("on", "tiles")
    if asked == "auto" and not reader.config.is_encoder:
        rounds = can_round_activations(reader, dtype, device)
    return Precision(config.quantization, rounds, tiles=asked == "tiles")


def pick_kv_dtype(config: EngineConfig, precision: Precision, dtype: torch.dtype) -> torch.dtype:
    """How keys and values are kept unless it is said: as they are computed, or in half of the
    memory where what is computed from them is rounded anyway."""
    if config.kv_dtype == "auto":
        return torch.float16 if precision.int8_activations else dtype
    return _named(config.kv_dtype)


def _named(name: str) -> torch.dtype:
    dtype = getattr(torch, name)
    assert isinstance(dtype, torch.dtype)
    return dtype
