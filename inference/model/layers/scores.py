"""Attention whose weights are not a softmax of the scores alone, by plain torch.

Sources: Gemma Team 2024 (capped scores); OpenAI 2025, the gpt-oss model card (sinks).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from inference.kernels.batch import Batch, LayerCache


@dataclass(frozen=True)
class Scores:
    """How scores become weights."""

    cap: float | None = None
    """Scores are kept within it: cap * tanh(score / cap)."""
    sinks: Tensor | None = None
    """A score of each head, (heads,), that takes its share of the softmax and gives no value."""

    def weights(self, scores: Tensor, seen: Tensor) -> Tensor:
        """(N, kv heads, group, queries, keys) float32, of which `seen` are attended to."""
        if self.cap is not None:
            scores = self.cap * torch.tanh(scores / self.cap)
        scores = scores.masked_fill(~seen, -torch.inf)
        if self.sinks is None:
            return scores.softmax(-1)
        sinks = self.sinks.float().view(1, *scores.shape[1:3], 1, 1)
        with_sink = torch.cat((scores, sinks.expand(*scores.shape[:-1], 1)), dim=-1)
        return with_sink.softmax(-1)[..., :-1]


def attend_by(
    rule: Scores, queries: Tensor, cache: LayerCache, batch: Batch, window: int | None
) -> Tensor:
    """As `Backend.attend`, with the weights that `rule` gives."""
    out = torch.empty_like(queries)
    if batch.decode is not None:
        alone = queries[: batch.num_decode, None]
        seen = batch.decode.mask(window)[:, :, None]
        out[: batch.num_decode] = _attend(rule, alone, cache, batch.decode.slots, seen)[:, 0]
    for chunk in batch.prefill:
        given = queries[None, chunk.begin : chunk.end]
        attended = _attend(rule, given, cache, chunk.slots[None], chunk.seen(window))
        out[chunk.begin : chunk.end] = attended[0]
    return out


def _attend(
    rule: Scores, queries: Tensor, cache: LayerCache, slots: Tensor, seen: Tensor
) -> Tensor:
    """(N, queries, heads, dim) over (N, keys) slots."""
    keys, values = (part.float() for part in cache.gather(slots, queries.dtype))
    num, count, heads, dim = queries.shape
    kv_heads = keys.shape[2]
    grouped = queries.float().view(num, count, kv_heads, heads // kv_heads, dim)
    scores = torch.einsum("nqkgd,nskd->nkgqs", grouped, keys) / dim**0.5
    attended = torch.einsum("nkgqs,nskd->nqkgd", rule.weights(scores, seen), values)
    return attended.reshape(num, count, heads, dim).to(queries.dtype)
