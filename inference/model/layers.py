"""The parts of a decoder that hold weights."""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.model.backend import Angles


class Linear(Protocol):
    """A matrix that rows are multiplied with, however it is stored."""

    def __call__(self, x: Tensor) -> Tensor:
        """(..., in) to (..., out)."""
        ...


class Embedding(Protocol):
    def rows(self, token_ids: Tensor) -> Tensor:
        """(T,) ids to (T, hidden)."""
        ...


class DenseLinear:
    """y = x @ weight.T + bias, with the weight as (out, in). Also an `Embedding`."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        self.weight = weight
        self.bias = bias

    def __call__(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)

    def rows(self, token_ids: Tensor) -> Tensor:
        return F.embedding(token_ids, self.weight)


class Rotary:
    """Rotary position embedding: cos and sin of every position, kept in float32.

    Source: Su et al. 2021 (RoFormer).
    """

    def __init__(
        self, head_dim: int, max_position: int, theta: float, device: torch.device
    ) -> None:
        exponents = torch.arange(0, head_dim, 2, dtype=torch.int64).float() / head_dim
        inverse_frequency = 1.0 / (theta**exponents)
        angles = torch.outer(torch.arange(max_position).float(), inverse_frequency)
        angles = torch.cat((angles, angles), dim=-1).to(device)
        self._cos, self._sin = angles.cos(), angles.sin()

    def at(self, positions: Tensor, dtype: torch.dtype) -> Angles:
        return self._cos[positions].to(dtype), self._sin[positions].to(dtype)
