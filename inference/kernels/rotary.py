"""Rotation of queries and keys, with keys and values written to the cache on the way."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor


def rotate_and_cache(
    qkv: Tensor,
    kv_heads: int,
    cos: Tensor,
    sin: Tensor,
    keys: Tensor,
    values: Tensor,
    slots: Tensor,
) -> Tensor:
    """Rotate (half-split layout) and store; returns the rotated queries, a view of `qkv`.

    Args:
        qkv: (T, heads + 2 * kv heads, head dim), contiguous; its queries change in place.
        cos, sin: (T, head dim), both halves equal.
        keys, values: (slots, kv heads, head dim), the layer's cache.
        slots: (T,) int64, where each token's key and value go.
    """
    num, all_heads, dim = qkv.shape
    heads = all_heads - 2 * kv_heads
    half = dim // 2
    _rotate_and_cache[(num, all_heads)](
        qkv,
        cos,
        sin,
        keys,
        values,
        slots,
        heads,
        kv_heads,
        dim,
        half,
        HALF=triton.next_power_of_2(half),
    )
    return qkv[:, :heads]


@triton.jit
def _rotate_and_cache(
    qkv, cos, sin, keys, values, slots, heads, kv_heads, dim, half, HALF: tl.constexpr
):
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    at = tl.arange(0, HALF)
    inside = at < half
    row = qkv + (token * (heads + 2 * kv_heads) + head) * dim
    first = tl.load(row + at, mask=inside, other=0.0)
    second = tl.load(row + half + at, mask=inside, other=0.0)
    slot = tl.load(slots + token) * kv_heads
    if head < heads + kv_heads:
        c = tl.load(cos + token * dim + at, mask=inside, other=0.0).to(tl.float32)
        s = tl.load(sin + token * dim + at, mask=inside, other=0.0).to(tl.float32)
        turned_first = first.to(tl.float32) * c - second.to(tl.float32) * s
        turned_second = second.to(tl.float32) * c + first.to(tl.float32) * s
        if head < heads:
            tl.store(row + at, turned_first.to(qkv.dtype.element_ty), mask=inside)
            tl.store(row + half + at, turned_second.to(qkv.dtype.element_ty), mask=inside)
        else:
            key = keys + (slot + head - heads) * dim
            tl.store(key + at, turned_first.to(keys.dtype.element_ty), mask=inside)
            tl.store(key + half + at, turned_second.to(keys.dtype.element_ty), mask=inside)
    else:
        value = values + (slot + head - heads - kv_heads) * dim
        tl.store(value + at, first.to(values.dtype.element_ty), mask=inside)
        tl.store(value + half + at, second.to(values.dtype.element_ty), mask=inside)
