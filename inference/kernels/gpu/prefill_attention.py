"""Causal attention of a chunk's queries over all that is cached of its sequence.

The chunk's own keys are in the cache already, so prefix and chunk are one context, walked a
tile at a time with a running softmax.
Source: Dao 2023 (FlashAttention-2).
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from inference.kernels.batch import LayerCache

_QUERIES = 64
_KEYS = 64


def prefill_attention(
    queries: Tensor,
    cache: LayerCache,
    slots: Tensor,
    start: int,
    window: int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Attend with queries (T, heads, head dim) of one sequence's tokens from `start` on.

    Args:
        slots: (start + T,) int64, where each token of the sequence is cached.
        window: only the last so many tokens are attended to, each query's own included.
    """
    num, heads, dim = queries.shape
    kv_heads = cache.keys.shape[1]
    if out is None:
        out = torch.empty(num, heads, dim, dtype=queries.dtype, device=queries.device)
    tile = min(_QUERIES, max(16, triton.next_power_of_2(num)))
    _attend_chunk[(triton.cdiv(num, tile), heads)](
        queries,
        cache.keys,
        cache.values,
        *cache.scales_or(queries),
        slots,
        out,
        queries.stride(0),
        out.stride(0),
        num,
        start,
        heads // kv_heads,
        kv_heads,
        dim,
        dim**-0.5,
        window or start + num,
        SCALED=cache.is_scaled,
        QUERIES=tile,
        KEYS=_KEYS,
        DIM=triton.next_power_of_2(dim),
    )
    return out


@triton.jit
def _attend_chunk(
    queries, keys, values, key_scales, value_scales, slots, out,
    query_stride, out_stride, num, start, group, kv_heads, dim, scale, window,
    SCALED: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    tile, head = tl.program_id(0), tl.program_id(1)
    kv_head = head // group
    row, at = tile * QUERIES + tl.arange(0, QUERIES), tl.arange(0, DIM)
    wanted = (row < num)[:, None] & (at < dim)[None, :]
    from_row = row.to(tl.int64)[:, None]
    query = tl.load(
        queries + from_row * query_stride + head * dim + at[None, :], mask=wanted, other=0.0
    )
    position = start + row
    largest = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    attended = tl.zeros([QUERIES, DIM], tl.float32)
    first = tl.maximum(start + tile * QUERIES - window + 1, 0) // KEYS * KEYS
    end = tl.minimum(start + (tile + 1) * QUERIES, start + num)
    for begin in range(first, end, KEYS):
        other = begin + tl.arange(0, KEYS)
        slot = tl.load(slots + other, mask=other < end, other=0)
        pair = slot * kv_heads + kv_head
        at_slot = pair * dim
        inside = (other < end)[:, None] & (at < dim)[None, :]
        key = tl.load(keys + at_slot[:, None] + at[None, :], mask=inside, other=0.0)
        scores = tl.dot(query, tl.trans(key.to(query.dtype)), input_precision="ieee") * scale
        if SCALED:
            scores *= tl.load(key_scales + pair, mask=other < end, other=0.0)[None, :]
        seen = (other[None, :] <= position[:, None]) & (other[None, :] > position[:, None] - window)
        scores = tl.where(seen, scores, float("-inf"))
        newest = tl.maximum(largest, tl.max(scores, axis=1))
        safe = tl.where(newest == float("-inf"), 0.0, newest)
        shrink = tl.exp(largest - safe)
        weights = tl.exp(scores - safe[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        if SCALED:
            weights *= tl.load(value_scales + pair, mask=other < end, other=0.0)[None, :]
        value = tl.load(values + at_slot[:, None] + at[None, :], mask=inside, other=0.0)
        attended = attended * shrink[:, None] + tl.dot(
            weights.to(query.dtype), value.to(query.dtype), input_precision="ieee"
        )
        largest = newest
    attended = attended / tl.where(total > 0.0, total, 1.0)[:, None]
    tl.store(
        out + from_row * out_stride + head * dim + at[None, :],
        attended.to(out.dtype.element_ty),
        mask=wanted,
    )
