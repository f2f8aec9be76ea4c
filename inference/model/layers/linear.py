"""A matrix that rows are multiplied with, however it is stored."""

from __future__ import annotations

from typing import Protocol

import torch.nn.functional as F
from torch import Tensor


class Linear(Protocol):
    def __call__(self, x: Tensor) -> Tensor:
        """(..., in) to (..., out)."""
        ...


class Embedding(Protocol):
    def rows(self, token_ids: Tensor) -> Tensor:
        """(T,) ids to (T, hidden)."""
        ...


class TokenMatrix(Linear, Embedding, Protocol):
    """A matrix with a row for each token: rows going in, logits coming out."""


class DenseLinear:
    """y = x @ weight.T + bias, with the weight as (out, in). Also an `Embedding`."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def rows(self, token_ids: Tensor) -> Tensor:
        return F.embedding(token_ids, self.weight)
