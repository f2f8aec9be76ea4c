"""Memory for keys, values and states: how many blocks and sequences fit, and the tensors."""

from __future__ import annotations

from math import prod

import numpy as np
import psutil
import torch
from torch import Tensor

from inference.config import EngineConfig
from inference.errors import ModelLoadError
from inference.kernels.batch import SCALE_DTYPE, LayerCache
from inference.model.config import ModelConfig

_FRACTION = {"cpu": 0.2, "cuda": 0.9}
"""A computer has other work, and a GPU none: what is left of it is for activations."""


def count_blocks(
    config: EngineConfig,
    model: ModelConfig,
    num_layers: int,
    dtype: torch.dtype,
    device: torch.device,
    state_bytes: int = 0,
) -> int:
    """How many blocks fit; never more than all seats at full length can use.

    Args:
        model: whose heads are those that this process has, as `num_layers` are its layers.
        dtype: how keys and values are kept.
        state_bytes: what states take of the same memory.
    Raises:
        ModelLoadError: when they would not hold one sequence of full length.
    """
    block_size, longest = config.block_size, longest_sequence(config, model)
    per_token = token_bytes(model, num_layers, dtype)
    useful = config.scheduler.max_num_seqs * -(-longest // block_size)
    if config.num_blocks is not None:
        blocks = config.num_blocks
    else:
        room = _room(config, device) - state_bytes
        blocks = min(useful, room // (per_token * block_size))
    if blocks * block_size < longest:
        raise ModelLoadError(
            f"{blocks} KV blocks hold {blocks * block_size} tokens, fewer than one "
            f"sequence of {longest}: lower --max-model-len or give more memory"
        )
    return blocks


def count_states(config: EngineConfig, model: ModelConfig, device: torch.device) -> int:
    """How many sequences can run at once, of a model whose layers keep a state of each: at most
    all seats, and as many as half of the memory holds unless it is said. 0 of other models.

    Raises:
        ModelLoadError: when not one fits.
    """
    if not model.state_shapes:
        return 0
    states = config.max_states
    if states is None:
        states = _room(config, device) // 2 // state_bytes(model, 1)
    if states < 1:
        raise ModelLoadError(
            f"the state of one sequence takes {state_bytes(model, 1) / 1e6:.1f} MB, more than half "
            "of the memory for the cache"
        )
    return min(states, config.scheduler.max_num_seqs)


def state_bytes(model: ModelConfig, num_states: int) -> int:
    """Memory for so many sequences' states in all layers, in float32."""
    numbers = sum(prod(shape) for shape in model.state_shapes)
    return num_states * model.num_layers * numbers * torch.float32.itemsize


def _room(config: EngineConfig, device: torch.device) -> int:
    """Bytes that may be taken for the cache."""
    if device.type == "cuda":
        available, _ = torch.cuda.mem_get_info(device)
    else:
        available = psutil.virtual_memory().available
    return int(available * (config.kv_memory_fraction or _FRACTION[device.type]))


def token_bytes(model: ModelConfig, num_layers: int, dtype: torch.dtype) -> int:
    """Memory for one token's keys and values in all layers, their scales in int8 included."""
    row = model.head_dim * dtype.itemsize
    if dtype is torch.int8:
        row += SCALE_DTYPE.itemsize
    return 2 * num_layers * model.num_kv_heads * row


def longest_sequence(config: EngineConfig, model: ModelConfig) -> int:
    """Tokens of the longest sequence that is served."""
    return min(config.max_model_len or model.max_position, model.max_position)


def allocate_caches(
    num_slots: int,
    model: ModelConfig,
    num_layers: int,
    dtype: torch.dtype,
    device: torch.device,
    num_states: int = 0,
) -> list[LayerCache]:
    """A cache for each layer of this process; in int8 with its scales.

    Args:
        num_states: sequences whose states fit, beside the one of slot 0.
    """
    scales_shape = (num_slots, model.num_kv_heads)
    shape = (*scales_shape, model.head_dim)

    def empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        if device.type == "cpu":
            # NumPy's zeros are untouched pages: memory is used when a block first is.
            size = prod(shape) * dtype.itemsize
            return torch.from_numpy(np.zeros(size, np.uint8)).view(dtype).view(shape)
        return torch.zeros(shape, dtype=dtype, device=device)

    def layer() -> LayerCache:
        rows = empty(shape, dtype), empty(shape, dtype)
        states = tuple(
            empty((num_states + 1, *state), torch.float32) for state in model.state_shapes
        )
        if dtype is not torch.int8:
            return LayerCache(*rows, states=states)
        scales = empty(scales_shape, SCALE_DTYPE), empty(scales_shape, SCALE_DTYPE)
        return LayerCache(*rows, *scales, states)

    return [layer() for _ in range(num_layers)]
