"""What a step's batch looks like to the model.

Tokens of all chunks lie in one flat row, those of the decode batch first.
Keys and values of a layer lie in one tensor of slots, slot = block id * block size +
offset. A step writes its own keys and values first and reads afterwards, so chunks of
one step may share blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import torch
from torch import Tensor

from inference.kernels.low_rank import AdaptedRows

SCALE_DTYPE = torch.float32
"""Of the scales of a cache in int8."""


@dataclass(frozen=True)
class PrefillChunk:
    """Tokens [begin, end) of the flat row, of one sequence, attending to `slots` (context,)."""

    begin: int
    end: int
    start: int
    """Position of the chunk's first token in its sequence."""
    slots: Tensor
    images: tuple[tuple[int, int], ...] = ()
    """Positions [begin, end) of images whose tokens attend to one another, in order; those of each
    are all of this chunk or computed."""
    state: int = 0
    """Slot of its sequence's state, of models that have such; it begins as zeros where `start` is
    0, whatever lies there."""

    def seen(self, window: int | None) -> Tensor:
        """(tokens, context), True where a token attends."""
        rows = torch.arange(self.start, self.start + self.end - self.begin)[:, None]
        columns = torch.arange(len(self.slots))
        seen = columns <= rows
        for begin, end in self.images:
            seen |= (rows >= begin) & (rows < end) & (columns >= begin) & (columns < end)
        return (seen & (columns > rows - (window or len(self.slots)))).to(self.slots.device)


@dataclass(frozen=True)
class Features:
    """What takes the place of embeddings: (F, hidden) in the flat rows (F,)."""

    rows: Tensor
    values: Tensor


@dataclass(frozen=True)
class DecodeBatch:
    """The first S tokens of the flat row, computed one query at a time: each request's next one
    and its draft tokens."""

    tables: Tensor
    """(S, width) int32 block ids, padded with 0."""
    lengths: Tensor
    """(S,) int32: how many tokens each attends to, its own included."""
    block_size: int
    states: Tensor | None = None
    """(S,) slots of the sequences' states, of models that have such."""

    @cached_property
    def slots(self) -> Tensor:
        """(S, longest) slots of the contexts, padded."""
        offsets = torch.arange(self.block_size, device=self.tables.device)
        slots = (self.tables[:, :, None] * self.block_size + offsets).flatten(1).long()
        return slots[:, : int(self.lengths.max())]

    def mask(self, window: int | None) -> Tensor:
        """(S, 1, 1, longest), True where a slot is attended to."""
        lengths = self.lengths[:, None]
        columns = torch.arange(self.slots.shape[1], device=self.lengths.device)
        seen = columns < lengths
        if window is not None:
            seen &= columns >= lengths - window
        return seen[:, None, None]


@dataclass(frozen=True)
class Places:
    """Where a step's tokens lie, and what they attend to; as in `Batch`."""

    slots: Tensor
    decode: DecodeBatch | None
    prefill: tuple[PrefillChunk, ...]

    def to(self, device: torch.device) -> Places:
        """The same on another device."""
        decode = self.decode and replace(
            self.decode,
            tables=self.decode.tables.to(device),
            lengths=self.decode.lengths.to(device),
            states=None if self.decode.states is None else self.decode.states.to(device),
        )
        prefill = tuple(replace(chunk, slots=chunk.slots.to(device)) for chunk in self.prefill)
        return Places(self.slots.to(device), decode, prefill)


@dataclass(frozen=True)
class Batch:
    """A step's tokens, flat: (T,) each unless said."""

    token_ids: Tensor
    positions: Tensor
    """By which tokens are turned; (3, T) where images are among them, for models that place their
    tokens by time, row and column."""
    slots: Tensor
    """Where each token's key and value go."""
    decode: DecodeBatch | None
    prefill: tuple[PrefillChunk, ...]
    """The prompts' chunks, in order, after the decode batch."""
    logits_rows: Tensor
    """Flat rows whose logits are needed, (R,)."""
    features: Features | None = None
    """Of images."""
    adapters: tuple[AdaptedRows, ...] = ()
    """Rows that have one."""
    read_rows: Tensor | None = None
    """Flat rows of which the last layer's result is read, all where None: that of others may be
    anything. Their keys and values are kept all the same."""
    written: Callable[[int], None] | None = None
    """Told how many layers have written the keys and values of all tokens, while the next ones are
    computed; of a model on one rank."""
    windowed: Places | None = None
    """Where they lie for layers with a window, which have blocks of their own; None: all layers
    have the same."""

    @property
    def places(self) -> Places:
        return Places(self.slots, self.decode, self.prefill)

    def at(self, places: Places) -> Batch:
        """The same tokens, as layers see them for which they lie there."""
        slots, decode, prefill = places.slots, places.decode, places.prefill
        return replace(self, slots=slots, decode=decode, prefill=prefill, windowed=None)

    def to(self, device: torch.device) -> Batch:
        """The same on another device."""
        places = self.places.to(device)
        return Batch(
            token_ids=self.token_ids.to(device),
            positions=self.positions.to(device),
            slots=places.slots,
            decode=places.decode,
            prefill=places.prefill,
            logits_rows=self.logits_rows.to(device),
            features=self.features
            and Features(self.features.rows.to(device), self.features.values.to(device)),
            adapters=self.adapters,
            read_rows=None if self.read_rows is None else self.read_rows.to(device),
            windowed=self.windowed and self.windowed.to(device),
        )

    @property
    def has_whole_images(self) -> bool:
        """Whether some tokens attend to later ones."""
        return any(chunk.images for chunk in self.prefill)

    @property
    def num_decode(self) -> int:
        return 0 if self.decode is None else len(self.decode.lengths)


class Slots(Protocol):
    """What is kept for each token, in slots."""

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """All that the slots hold, one tensor (slots, ...) each: what copies or checks
        blocks takes these."""
        ...


class LayerCache:
    """Keys and values of one layer, (slots, kv heads, head dim) each.

    In int8 every row (one token, one head) has a scale, its largest magnitude / 127, in
    `key_scales` and `value_scales` (slots, kv heads): a number is off by half a scale at most.
    """

    def __init__(
        self,
        keys: Tensor,
        values: Tensor,
        key_scales: Tensor | None = None,
        value_scales: Tensor | None = None,
        states: tuple[Tensor, ...] = (),
    ) -> None:
        """`states`: what the layer keeps of a sequence beside these, (state slots, ...) each."""
        self.keys = keys
        self.values = values
        self.key_scales = key_scales
        self.value_scales = value_scales
        self.states = states

    @property
    def is_scaled(self) -> bool:
        return self.key_scales is not None

    def scales_or(self, other: Tensor) -> tuple[Tensor, Tensor]:
        """The scales; `other` in their place where there are none, for kernels that need a
        pointer even so."""
        if self.key_scales is None or self.value_scales is None:
            return other, other
        return self.key_scales, self.value_scales

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """All that the slots hold, one tensor (slots, ...) each: what copies or checks
        blocks takes these."""
        scales = (self.key_scales, self.value_scales)
        return (self.keys, self.values, *(part for part in scales if part is not None))

    def store(self, slots: Tensor, keys: Tensor, values: Tensor) -> None:
        """Keep (T, kv heads, head dim) keys and values in their (T,) slots."""
        for given, rows, scales in (
            (keys, self.keys, self.key_scales),
            (values, self.values, self.value_scales),
        ):
            if scales is None:
                rows.index_copy_(0, slots, given.to(rows.dtype))
                continue
            largest = given.float().abs().amax(dim=-1, keepdim=True)
            steps = torch.where(largest > 0, 127 / largest, 0.0)
            rows.index_copy_(0, slots, (given.float() * steps).round().to(torch.int8))
            scales.index_copy_(0, slots, (largest / 127).squeeze(-1))

    def gather(self, slots: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """The keys and values of slots (...,), each (..., kv heads, head dim)."""
        keys, values = self.keys[slots].to(dtype), self.values[slots].to(dtype)
        if self.key_scales is not None and self.value_scales is not None:
            keys *= self.key_scales[slots].to(dtype).unsqueeze(-1)
            values *= self.value_scales[slots].to(dtype).unsqueeze(-1)
        return keys, values
