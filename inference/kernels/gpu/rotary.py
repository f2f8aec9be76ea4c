"""Rotation of queries and keys, with keys and values written to the cache on the way."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from inference.kernels.batch import LayerCache


def rotate_and_cache(
    qkv: Tensor,
    kv_heads: int,
    cos: Tensor,
    sin: Tensor,
    cache: LayerCache,
    slots: Tensor,
) -> Tensor:
    """Rotate (half-split layout) and store; returns the rotated queries, a view of `qkv`.

    Args:
        qkv: (T, heads + 2 * kv heads, head dim), contiguous; its queries change in place.
        cos, sin: (T, head dim), both halves equal.
        slots: (T,) int64, where each token's key and value go.
    """
    num, all_heads, dim = qkv.shape
    heads = all_heads - 2 * kv_heads
    half = dim // 2
    _rotate_and_cache[(num, all_heads)](
        qkv,
        cos,
        sin,
        cache.keys,
        cache.values,
        *cache.scales_or(qkv),
        slots,
        heads,
        kv_heads,
        dim,
        half,
        SCALED=cache.is_scaled,
        HALF=triton.next_power_of_2(half),
    )
    return qkv[:, :heads]


@triton.jit
def _rotate_and_cache(
    qkv, cos, sin, keys, values, key_scales, value_scales, slots, heads, kv_heads, dim, half,
    SCALED: tl.constexpr, HALF: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    at = tl.arange(0, HALF)
    inside = at < half
    row = qkv + (token * (heads + 2 * kv_heads) + head) * dim
    first = tl.load(row + at, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(row + half + at, mask=inside, other=0.0).to(tl.float32)
    slot = tl.load(slots + token) * kv_heads
    if head < heads + kv_heads:
        c = tl.load(cos + token * dim + at, mask=inside, other=0.0).to(tl.float32)
        s = tl.load(sin + token * dim + at, mask=inside, other=0.0).to(tl.float32)
        turned_first = first * c - second * s
        turned_second = second * c + first * s
        if head < heads:
            tl.store(row + at, turned_first.to(qkv.dtype.element_ty), mask=inside)
            tl.store(row + half + at, turned_second.to(qkv.dtype.element_ty), mask=inside)
        else:
            pair = slot + head - heads
            _store_row(
                keys, key_scales, pair, turned_first, turned_second, at, inside, half, SCALED
            )
    else:
        pair = slot + head - heads - kv_heads
        _store_row(values, value_scales, pair, first, second, at, inside, half, SCALED)


@triton.jit
def _store_row(rows, scales, pair, first, second, at, inside, half, SCALED: tl.constexpr):
    """Keep the two halves of a row, rounded to integers with one scale where SCALED."""
    if SCALED:
        largest = tl.maximum(tl.max(tl.abs(first), axis=0), tl.max(tl.abs(second), axis=0))
        tl.store(scales + pair, largest / 127.0)
        steps = tl.where(largest > 0.0, 127.0 / tl.where(largest > 0.0, largest, 1.0), 0.0)
        first, second = tl.floor(first * steps + 0.5), tl.floor(second * steps + 0.5)
    row = rows + pair * 2 * half
    tl.store(row + at, first.to(rows.dtype.element_ty), mask=inside)
    tl.store(row + half + at, second.to(rows.dtype.element_ty), mask=inside)
