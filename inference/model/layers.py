"""The small parts of a decoder layer."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """x / rms(x) * weight, computed in float32.

    Source: Zhang and Sennrich 2019.
    """

    def __init__(self, weight: Tensor, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, x.shape[-1:], self.weight, self.eps)


class Linear(nn.Module):
    """y = x @ weight.T + bias, with the weight as (out, in)."""

    def __init__(self, weight: Tensor, bias: Tensor | None = None) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.bias = nn.Parameter(bias, requires_grad=False) if bias is not None else None

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.weight, self.bias)


class Rotary:
    """Rotary position embedding in the half-split layout.

    Keeps cos and sin of every position, in float32, (max_position, head_dim) each.
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

    def at(self, positions: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """cos and sin for a batch of tokens, (T, 1, head_dim) each."""
        cos, sin = self._cos[positions], self._sin[positions]
        return cos.to(dtype).unsqueeze(1), sin.to(dtype).unsqueeze(1)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate (T, heads, head_dim) by each token's angle."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin
