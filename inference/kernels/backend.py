"""The operations around the matrix products, and their plain torch implementation.

A decoder is written against `Backend`; `TorchBackend` runs everywhere and is what the
faster ones (`cpu/backend.py`, `gpu/backend.py`) are tested against and fall back to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.kernels.low_rank import Product

Angles = tuple[Tensor, Tensor]
"""cos and sin for every token of a batch, (T, head dim) each."""


@dataclass(frozen=True)
class LayerShape:
    """The sizes of a layer's attention, and what its norms add under the root."""

    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    eps: float


@dataclass(frozen=True)
class LayerParts:
    """A layer that can be computed as one operation: RMS norm, attention with rotary positions,
    RMS norm, SwiGLU, each after a norm added to the residual stream."""

    attn_norm: Tensor
    qkv: Product
    """Query, key and value rows below one another."""
    out: Product
    mlp_norm: Tensor
    gate_up: Product
    down: Product
    window: int | None
    """How many last tokens are attended to; all where None."""


class TokenReadout(Protocol):
    """Linear functions of what enters a layer, whose values are kept for each token.

    Attributes:
        layer: how many layers are computed before.
        weight: (functions, hidden) float32.
        bias: (functions,) float32.
        values: (slots, functions) float32.
    """

    @property
    def layer(self) -> int: ...

    @property
    def weight(self) -> Tensor: ...

    @property
    def bias(self) -> Tensor: ...

    @property
    def values(self) -> Tensor: ...


class FusedLayers(Protocol):
    """Several layers as one operation."""

    def takes(self, batch: Batch) -> bool:
        """Whether it can compute this batch."""
        ...

    def __call__(
        self,
        x: Tensor,
        angles: Angles,
        batch: Batch,
        caches: list[LayerCache],
        readout: TokenReadout | None = None,
    ) -> tuple[Tensor, Tensor]:
        """The residual stream (T, hidden), changed in place, and what is to be added to it.

        Where there is a `readout`, its values are written on the way, to the batch's slots."""
        ...


class Backend(Protocol):
    def fuse(self, shape: LayerShape, layers: Sequence[LayerParts]) -> FusedLayers | None:
        """The layers as one operation for the batches that it takes; None where there is none."""
        ...

    def add_rms_norm(self, x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
        """Add `delta` to `x` in place, then return x / rms(x) * weight."""
        ...

    def rotate_and_cache(
        self, qkv: Tensor, kv_heads: int, angles: Angles, cache: LayerCache, batch: Batch
    ) -> Tensor:
        """Rotate queries and keys, store keys and values, return the queries.

        Args:
            qkv: (T, heads + 2 * kv heads, head dim); may be changed.
        """
        ...

    def attend(
        self, queries: Tensor, cache: LayerCache, batch: Batch, window: int | None = None
    ) -> Tensor:
        """Causal attention of (T, heads, head dim) queries over all that is cached of
        their sequences, or its last `window` tokens; the result has the same shape."""
        ...

    def mlp(self, x: Tensor, gate_up: Product, down: Product) -> Tensor:
        """down(silu(gate) * up), for gate and up side by side in the last dimension of
        `gate_up(x)`."""
        ...


class TorchBackend:
    """Plain torch, on any device and in any dtype."""

    def fuse(self, shape: LayerShape, layers: Sequence[LayerParts]) -> FusedLayers | None:
        return None

    def add_rms_norm(self, x: Tensor, delta: Tensor | None, weight: Tensor, eps: float) -> Tensor:
        if delta is not None:
            x += delta
        return F.rms_norm(x, weight.shape, weight, eps)

    def rotate_and_cache(
        self, qkv: Tensor, kv_heads: int, angles: Angles, cache: LayerCache, batch: Batch
    ) -> Tensor:
        heads = qkv.shape[1] - 2 * kv_heads
        queries, keys, values = qkv.split((heads, kv_heads, kv_heads), dim=1)
        cache.store(batch.slots, _rotate(keys, angles), values)
        return _rotate(queries, angles)

    def attend(
        self, queries: Tensor, cache: LayerCache, batch: Batch, window: int | None = None
    ) -> Tensor:
        out = torch.empty(queries.shape, dtype=queries.dtype, device=queries.device)
        if batch.decode is not None:
            self.attend_decode(queries, cache, batch.decode, out, window)
        for chunk in batch.prefill:
            rows = slice(chunk.begin, chunk.end)
            self.attend_prefill(queries[rows], cache, chunk, out[rows], window)
        return out

    def attend_prefill(
        self,
        queries: Tensor,
        cache: LayerCache,
        chunk: PrefillChunk,
        out: Tensor,
        window: int | None,
    ) -> None:
        """Several queries of one sequence, written to `out`."""
        out.copy_(_attend_prefill(queries, cache, chunk, window))

    def attend_decode(
        self,
        queries: Tensor,
        cache: LayerCache,
        decode: DecodeBatch,
        out: Tensor,
        window: int | None,
    ) -> None:
        """One query each: all in one padded call, query heads grouped by kv head."""
        num = len(decode.lengths)
        _, heads, dim = queries.shape
        kv_heads = cache.keys.shape[1]
        keys, values = cache.gather(decode.slots, queries.dtype)
        grouped = queries[:num].reshape(num, kv_heads, heads // kv_heads, dim)
        attended = F.scaled_dot_product_attention(
            grouped,
            keys.transpose(1, 2),
            values.transpose(1, 2),
            attn_mask=decode.mask(window),
        )
        out[:num] = attended.reshape(num, heads, dim)

    def mlp(self, x: Tensor, gate_up: Product, down: Product) -> Tensor:
        return down(self.swiglu(gate_up(x)))

    def swiglu(self, gate_up: Tensor) -> Tensor:
        """silu(gate) * up, for gate and up side by side in the last dimension."""
        gate, up = gate_up.chunk(2, dim=-1)
        return F.silu(gate) * up


def _rotate(x: Tensor, angles: Angles) -> Tensor:
    """Rotate (T, heads, head dim) by each token's angle, in the half-split layout."""
    cos, sin = (part.unsqueeze(1) for part in angles)
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def _attend_prefill(
    queries: Tensor, cache: LayerCache, chunk: PrefillChunk, window: int | None
) -> Tensor:
    num, heads, dim = queries.shape
    kv_heads = cache.keys.shape[1]
    group = heads // kv_heads
    context = chunk.slots.shape[0]
    gathered = cache.gather(chunk.slots, queries.dtype)
    keys, values = (part.transpose(0, 1).unsqueeze(1) for part in gathered)
    grouped = queries.reshape(num, kv_heads, group, dim).permute(1, 2, 0, 3)
    mask = None
    if chunk.start > 0 or (window is not None and window < context):
        rows = torch.arange(chunk.start, chunk.start + num, device=queries.device)[:, None]
        columns = torch.arange(context, device=queries.device)
        mask = (columns <= rows) & (columns > rows - (window or context))
    attended = F.scaled_dot_product_attention(
        grouped,
        keys.expand(-1, group, -1, -1),
        values.expand(-1, group, -1, -1),
        attn_mask=mask,
        is_causal=mask is None,
    )
    return attended.permute(2, 0, 1, 3).reshape(num, heads, dim)
