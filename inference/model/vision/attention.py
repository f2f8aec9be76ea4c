"""Attention among the patches of an image: none is later than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.model.layers.linear import Linear

Groups = Sequence[Tensor]
"""Which patches attend to one another: (groups, size) indices each, of groups of one size."""
Turn = tuple[Tensor, Tensor]
"""cos and sin of every patch, (N, head dim) each."""


@dataclass(frozen=True)
class PatchAttention:
    qkv: Linear
    """Query, key and value rows below one another."""
    out: Linear
    num_heads: int

    def __call__(self, x: Tensor, groups: Groups, turn: Turn | None = None) -> Tensor:
        """(N, hidden) to (N, hidden)."""
        heads = self.qkv(x).view(len(x), 3, self.num_heads, -1)
        queries, keys, values = heads.unbind(1)
        if turn is not None:
            queries, keys = _turned(queries, turn), _turned(keys, turn)
        attended = torch.empty_like(values)
        for group in groups:
            # (groups, heads, size, head dim)
            q, k, v = (part[group].transpose(1, 2) for part in (queries, keys, values))
            attended[group] = F.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        return self.out(attended.reshape(len(x), -1))


def _turned(x: Tensor, turn: Turn) -> Tensor:
    cos, sin = (part[:, None] for part in turn)
    first, second = x.float().chunk(2, dim=-1)
    turned = torch.cat((-second, first), dim=-1)
    return (x.float() * cos + turned * sin).to(x.dtype)
