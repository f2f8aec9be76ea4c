"""Attention of one query a sequence over paged keys and values, split along the context.

All query heads of a key-value head share one program, so keys are read once for the group; a
long context is cut into splits that run side by side, and a second kernel joins them.
Sources: Kwon et al. 2023 (PagedAttention); Dao et al. 2023 (Flash-Decoding).
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from inference.kernels.batch import LayerCache

_KEYS = 64
"""Keys of one round of a program."""
_GROUP = 16
"""Rows that a matrix instruction takes at least; smaller groups of query heads are padded."""
_SPLIT = 512
"""Keys of a split, where there are enough of them to cut."""
_MAX_SPLITS = 32


def decode_attention(
    queries: Tensor,
    cache: LayerCache,
    tables: Tensor,
    lengths: Tensor,
    block_size: int,
    window: int | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Attend with queries (S, heads, head dim), whose last two dimensions are contiguous.

    Args:
        cache: keys and values by slot = block id * block size + offset.
        tables: (S, width) int32 block ids.
        lengths: (S,) int32, tokens of each sequence, the query's own included.
        window: only the last so many are attended to.
        out: (S, heads, head dim), contiguous; made when not given.

    The grid depends on the width of the tables only, so a CUDA graph can hold the call.
    """
    num, heads, dim = queries.shape
    kv_heads = cache.keys.shape[1]
    if out is None:
        out = torch.empty(num, heads, dim, dtype=queries.dtype, device=queries.device)
    longest = tables.shape[1] * block_size
    splits = min(_MAX_SPLITS, triton.cdiv(longest, _SPLIT))
    per_split = triton.cdiv(triton.cdiv(longest, splits), _KEYS) * _KEYS
    parts = torch.empty(num, heads, splits, dim, dtype=torch.float32, device=queries.device)
    logs = torch.empty(num, heads, splits, dtype=torch.float32, device=queries.device)
    padded = triton.next_power_of_2(dim)
    _attend_split[(num, kv_heads, splits)](
        queries,
        cache.keys,
        cache.values,
        *cache.scales_or(queries),
        tables,
        lengths,
        parts,
        logs,
        queries.stride(0),
        tables.shape[1],
        heads,
        kv_heads,
        dim,
        dim**-0.5,
        per_split,
        window or longest,
        splits,
        BLOCK_SIZE=block_size,
        GROUP=max(_GROUP, triton.next_power_of_2(heads // kv_heads)),
        SCALED=cache.is_scaled,
        KEYS=_KEYS,
        DIM=padded,
    )
    _join_splits[(num, heads)](parts, logs, out, heads, dim, splits, MAX=_MAX_SPLITS, DIM=padded)
    return out


@triton.jit
def _attend_split(
    queries, keys, values, key_scales, value_scales, tables, lengths, parts, logs,
    query_stride, width, heads, kv_heads, dim, scale, per_split, window, splits,
    BLOCK_SIZE: tl.constexpr, GROUP: tl.constexpr, SCALED: tl.constexpr,
    KEYS: tl.constexpr, DIM: tl.constexpr,
):  # fmt: skip
    sequence, kv_head, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    group = heads // kv_heads
    member, at = tl.arange(0, GROUP), tl.arange(0, DIM)
    head = kv_head * group + member
    wanted = (member < group)[:, None] & (at < dim)[None, :]
    query = tl.load(
        queries + sequence.to(tl.int64) * query_stride + head[:, None] * dim + at[None, :],
        mask=wanted,
        other=0.0,
    )
    length = tl.load(lengths + sequence)
    begin = tl.maximum(split * per_split, length - window)
    end = tl.minimum((split + 1) * per_split, length)
    largest = tl.full([GROUP], float("-inf"), tl.float32)
    total = tl.zeros([GROUP], tl.float32)
    attended = tl.zeros([GROUP, DIM], tl.float32)
    for start in range(split * per_split, end, KEYS):
        position = start + tl.arange(0, KEYS)
        seen = (position >= begin) & (position < end)
        block = tl.load(tables + sequence * width + position // BLOCK_SIZE, mask=seen, other=0)
        slot = block.to(tl.int64) * BLOCK_SIZE + position % BLOCK_SIZE
        pair = slot * kv_heads + kv_head
        row = pair * dim
        inside = seen[:, None] & (at < dim)[None, :]
        key = tl.load(keys + row[:, None] + at[None, :], mask=inside, other=0.0).to(query.dtype)
        scores = tl.dot(query, tl.trans(key), input_precision="ieee") * scale
        if SCALED:
            scores *= tl.load(key_scales + pair, mask=seen, other=0.0)[None, :]
        scores = tl.where(seen[None, :], scores, float("-inf"))
        newest = tl.maximum(largest, tl.max(scores, axis=1))
        # A round that is all outside the window leaves the maximum infinite: nothing to scale.
        safe = tl.where(newest == float("-inf"), 0.0, newest)
        shrink = tl.exp(largest - safe)
        weights = tl.exp(scores - safe[:, None])
        total = total * shrink + tl.sum(weights, axis=1)
        if SCALED:
            weights *= tl.load(value_scales + pair, mask=seen, other=0.0)[None, :]
        value = tl.load(values + row[:, None] + at[None, :], mask=inside, other=0.0).to(query.dtype)
        attended = attended * shrink[:, None] + tl.dot(
            weights.to(query.dtype), value, input_precision="ieee"
        )
        largest = newest
    part = (sequence * heads + head).to(tl.int64) * splits + split
    attended = attended / tl.where(total > 0.0, total, 1.0)[:, None]
    tl.store(parts + part[:, None] * dim + at[None, :], attended, mask=wanted)
    log = tl.where(total > 0.0, largest + tl.log(tl.where(total > 0.0, total, 1.0)), float("-inf"))
    tl.store(logs + part, log, mask=member < group)


@triton.jit
def _join_splits(parts, logs, out, heads, dim, splits, MAX: tl.constexpr, DIM: tl.constexpr):
    """Weigh each split's result with its share of the softmax."""
    row = tl.program_id(0).to(tl.int64) * heads + tl.program_id(1)
    split, at = tl.arange(0, MAX), tl.arange(0, DIM)
    log = tl.load(logs + row * splits + split, mask=split < splits, other=float("-inf"))
    share = tl.exp(log - tl.max(log, axis=0))
    share = share / tl.sum(share, axis=0)
    inside = (split < splits)[:, None] & (at < dim)[None, :]
    part = tl.load(
        parts + (row * splits + split[:, None]) * dim + at[None, :], mask=inside, other=0.0
    )
    joined = tl.sum(part * share[:, None], axis=0)
    tl.store(out + row * dim + at, joined.to(out.dtype.element_ty), mask=at < dim)
