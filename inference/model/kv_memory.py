"""Memory for keys, values and states: how many blocks and sequences fit, and the tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
import psutil
import torch
from torch import Tensor

from inference.config import EngineConfig
from inference.core import WindowedBlocks
from inference.errors import ModelLoadError
from inference.kernels.batch import SCALE_DTYPE, LayerCache
from inference.model.config import ModelConfig

_FRACTION = {"cpu": 0.2, "cuda": 0.9}
"""A computer has other work, and a GPU none: what is left of it is for activations."""


@dataclass(frozen=True)
class BlockCounts:
    """How many blocks the cache has."""

    num_blocks: int
    """Of all layers, or of those that see all where the others have blocks of their own."""
    windowed: WindowedBlocks | None = None

    def agreed(self, least: Callable[[int], int]) -> BlockCounts:
        """What all ranks have room for, by the least of their numbers."""
        windowed = self.windowed
        if windowed is not None:
            windowed = replace(windowed, num_blocks=least(windowed.num_blocks))
        return BlockCounts(least(self.num_blocks), windowed)

    def spare_slots(self, block_size: int) -> tuple[int, int | None]:
        """The first slots beyond the pools, of all layers and of those with blocks of their own."""
        own = self.windowed
        return self.num_blocks * block_size, None if own is None else own.num_blocks * block_size

    def slots(self, model: ModelConfig, num_layers: int, block_size: int) -> list[int]:
        """Tokens whose keys and values each layer keeps."""
        windowed = self.windowed
        return [
            windowed.num_blocks * block_size
            if windowed is not None and layer in model.reach
            else self.num_blocks * block_size
            for layer in range(num_layers)
        ]


def count_blocks(
    config: EngineConfig,
    model: ModelConfig,
    num_layers: int,
    dtype: torch.dtype,
    device: torch.device,
    state_bytes: int = 0,
) -> BlockCounts:
    """How many blocks fit; never more than all seats at full length can use.

    Args:
        model: whose heads are those that this process has, as `num_layers` are its layers.
        dtype: how keys and values are kept.
        state_bytes: what states take of the same memory.
    Raises:
        ModelLoadError: when they would not hold one sequence of full length.
    """
    block_size, longest = config.block_size, longest_sequence(config, model)
    windowed = windowed_blocks(config, model)
    own_layers = len(model.reach) if windowed else 0
    of_all, own = (
        block_size * token_bytes(model, layers, dtype)
        for layers in (num_layers - own_layers, own_layers)
    )
    useful = config.scheduler.max_num_seqs * -(-longest // block_size)
    if config.num_blocks is not None:
        blocks = config.num_blocks
        windows = min(blocks, windowed.num_blocks) if windowed else 0
    else:
        room = _room(config, device) - state_bytes
        windows = 0
        if windowed is not None:
            windows = _windows_within(room, of_all, own, -(-longest // block_size), windowed)
        blocks = max(0, min(useful, (room - windows * own) // of_all))
    if blocks * block_size < longest:
        raise ModelLoadError(
            f"{blocks} KV blocks hold {blocks * block_size} tokens, fewer than one "
            f"sequence of {longest}: lower --max-model-len or give more memory"
        )
    return BlockCounts(blocks, windowed and replace(windowed, num_blocks=windows))


def windowed_blocks(config: EngineConfig, model: ModelConfig) -> WindowedBlocks | None:
    """The blocks of layers with a window, as many as all seats can use; None where they have none
    of their own."""
    window, longest = max(model.reach.values(), default=0), longest_sequence(config, model)
    if not 0 < len(model.reach) < model.num_layers or window >= longest or has_one_table(config):
        return None
    step = config.scheduler.max_num_batched_tokens + model.longest_image
    of_window, of_step = -(-window // config.block_size), -(-step // config.block_size)
    seats = config.scheduler.max_num_seqs
    # A window, or a step's tokens, need not begin where a block does.
    return WindowedBlocks(seats * (of_window + 2) + of_step, window, most=of_window + of_step + 1)


def has_one_table(config: EngineConfig) -> bool:
    """Whether all layers keep a token in the same block: where blocks are moved, which is by one
    number for all layers, and on the stages of a pipeline."""
    is_moved = config.swap_blocks or config.prefill_from is not None
    is_kept = config.kv_store is not None or config.kv_store_memory
    return bool(config.one_block_table or is_moved or is_kept or config.pipeline_parallel > 1)


def _windows_within(
    room: int, of_all: int, own: int, longest: int, windowed: WindowedBlocks
) -> int:
    """Blocks of layers with a window: where they are not as many as can be used, half as many as
    the others', or what the longest sequence leaves.

    Args:
        of_all: bytes of a block of the layers that see all.
        own: bytes of a block of those with a window.
        longest: blocks of the longest sequence.
    """
    count = min(windowed.num_blocks, room // (2 * of_all + own))
    if (room - count * own) // of_all < longest:
        count = (room - longest * of_all) // own
    return max(count, windowed.most)


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
    num_slots: int | Sequence[int],
    model: ModelConfig,
    num_layers: int,
    dtype: torch.dtype,
    device: torch.device,
    num_states: int = 0,
) -> list[LayerCache]:
    """A cache for each layer of this process; in int8 with its scales.

    Args:
        num_slots: tokens that fit, of each layer where they are several numbers.
        num_states: sequences whose states fit, beside the one of slot 0.
    """
    slots_of = [num_slots] * num_layers if isinstance(num_slots, int) else num_slots

    def empty(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        if device.type == "cpu":
            # NumPy's zeros are untouched pages: memory is used when a block first is.
            size = prod(shape) * dtype.itemsize
            return torch.from_numpy(np.zeros(size, np.uint8)).view(dtype).view(shape)
        return torch.zeros(shape, dtype=dtype, device=device)

    def layer(slots: int) -> LayerCache:
        scales_shape = (slots, model.num_kv_heads)
        shape = (*scales_shape, model.head_dim)
        rows = empty(shape, dtype), empty(shape, dtype)
        states = tuple(
            empty((num_states + 1, *state), torch.float32) for state in model.state_shapes
        )
        if dtype is not torch.int8:
            return LayerCache(*rows, states=states)
        scales = empty(scales_shape, SCALE_DTYPE), empty(scales_shape, SCALE_DTYPE)
        return LayerCache(*rows, *scales, states)

    return [layer(slots) for slots in slots_of]
