"""Paged attention: what a step's batch looks like, and the plain torch backend.

Tokens of all chunks lie in one flat row, those of single-token chunks (streams) first.
Keys and values of a layer lie in one tensor of slots, slot = block id * block size +
offset. A step writes its own keys and values first and reads afterwards, so chunks of
one step may share blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor


@dataclass(frozen=True)
class Span:
    """One chunk in the flat row: tokens [begin, end), attending to `slots` (context, )."""

    begin: int
    end: int
    start: int
    """Position of the chunk's first token in its sequence."""
    slots: Tensor


@dataclass(frozen=True)
class Batch:
    """A step's tokens, flat: (T,) each unless said."""

    token_ids: Tensor
    positions: Tensor
    slots: Tensor
    num_single: int
    """How many leading tokens are single-token chunks."""
    single_slots: Tensor
    """(num_single, longest context) slots of their contexts, padded with slot 0."""
    single_mask: Tensor
    """(num_single, 1, 1, longest context), True where attended."""
    spans: tuple[Span, ...]
    """The longer chunks, in order."""
    logits_rows: Tensor
    """Flat rows whose logits are needed, (R,)."""


class LayerCache:
    """Keys and values of one layer, (slots, kv heads, head dim) each."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys = keys
        self.values = values

    def write(self, slots: Tensor, keys: Tensor, values: Tensor) -> None:
        self.keys.index_copy_(0, slots, keys)
        self.values.index_copy_(0, slots, values)


class Attention(Protocol):
    """Causal attention of a step's queries over everything cached of their sequences."""

    def __call__(self, queries: Tensor, cache: LayerCache, batch: Batch) -> Tensor:
        """(T, heads, head dim) queries to outputs of the same shape."""
        ...


def torch_attention(queries: Tensor, cache: LayerCache, batch: Batch) -> Tensor:
    """The plain backend: gathers each context and calls torch's SDPA."""
    out = torch.empty_like(queries)
    if batch.num_single:
        out[: batch.num_single] = _attend_single(queries[: batch.num_single], cache, batch)
    for span in batch.spans:
        out[span.begin : span.end] = _attend_span(queries[span.begin : span.end], cache, span)
    return out


def _attend_single(queries: Tensor, cache: LayerCache, batch: Batch) -> Tensor:
    """One query each: all streams in one padded call, query heads grouped by kv head."""
    num, heads, dim = queries.shape
    kv_heads = cache.keys.shape[1]
    keys = cache.keys[batch.single_slots].transpose(1, 2)
    values = cache.values[batch.single_slots].transpose(1, 2)
    grouped = queries.view(num, kv_heads, heads // kv_heads, dim)
    attended = F.scaled_dot_product_attention(grouped, keys, values, attn_mask=batch.single_mask)
    return attended.reshape(num, heads, dim)


def _attend_span(queries: Tensor, cache: LayerCache, span: Span) -> Tensor:
    num, heads, dim = queries.shape
    kv_heads = cache.keys.shape[1]
    group = heads // kv_heads
    context = span.slots.shape[0]
    keys = cache.keys[span.slots].transpose(0, 1).unsqueeze(1)
    values = cache.values[span.slots].transpose(0, 1).unsqueeze(1)
    grouped = queries.view(num, kv_heads, group, dim).permute(1, 2, 0, 3)
    mask = None
    if span.start > 0:
        rows = torch.arange(span.start, span.start + num, device=queries.device)
        mask = torch.arange(context, device=queries.device) <= rows[:, None]
    attended = F.scaled_dot_product_attention(
        grouped,
        keys.expand(-1, group, -1, -1),
        values.expand(-1, group, -1, -1),
        attn_mask=mask,
        is_causal=mask is None,
    )
    return attended.permute(2, 0, 1, 3).reshape(num, heads, dim)
