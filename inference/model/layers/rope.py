"""Rotary position embedding and its ways to reach beyond the trained context.

Sources: Su et al. 2021 (RoFormer); Chen et al. 2023 (linear interpolation); Peng et al.
2023 (YaRN); the Llama 3.1 model card (llama3); Ding et al. 2024 (LongRoPE); Wang et al. 2024,
Qwen2-VL (by time, row and column).
"""

from __future__ import annotations

from math import ceil, floor, log, pi, sqrt

import torch
from torch import Tensor

from inference.kernels.backend import Angles
from inference.model.config import RopeConfig


class Rotary:
    """cos and sin of every position, kept in float32, (max position, head dim / 2) each: both
    dimensions of a pair turn alike."""

    def __init__(
        self, config: RopeConfig, head_dim: int, max_position: int, device: torch.device
    ) -> None:
        angles = torch.outer(torch.arange(max_position).float(), frequencies(config, head_dim))
        angles = angles.to(device)
        scale = _scales(config, head_dim).to(device)
        self._cos, self._sin = angles.cos() * scale, angles.sin() * scale
        axes = [axis % 3 for axis, pairs in enumerate(config.sections) for _ in range(pairs)]
        self._axes = torch.tensor(axes, device=device)

    def at(self, positions: Tensor, dtype: torch.dtype) -> Angles:
        """cos and sin, (T, head dim) each, of (T,) positions, or of (3, T): time, row, column."""
        if positions.ndim == 2:
            dims = torch.arange(len(self._axes), device=self._axes.device)
            chosen = positions[self._axes].T
            halves = self._cos[chosen, dims], self._sin[chosen, dims]
        else:
            halves = self._cos[positions], self._sin[positions]
        cos, sin = (torch.cat((half, half), dim=-1).to(dtype) for half in halves)
        return cos, sin


def frequencies(config: RopeConfig, head_dim: int) -> Tensor:
    """Radians a position for each pair of dimensions, (head dim / 2,) float32."""
    dims = config.dims or head_dim
    turning = _frequencies(config, dims)
    return torch.cat((turning, torch.zeros((head_dim - dims) // 2)))


def _frequencies(config: RopeConfig, head_dim: int) -> Tensor:
    plain = 1.0 / config.theta ** (torch.arange(0, head_dim, 2).float() / head_dim)
    if config.slowed_by:
        plain = plain / torch.tensor(config.slowed_by)
    match config.kind:
        case "none":
            return torch.zeros_like(plain)
        case "linear":
            return plain / config.factor
        case "llama3":
            return _llama3(config, plain)
        case "yarn":
            return _yarn(config, plain, head_dim)
    return plain


def _llama3(config: RopeConfig, plain: Tensor) -> Tensor:
    """Slow rotations are slowed by the factor, fast ones kept, those between blended."""
    turns = config.original_max_position * plain / (2 * pi)
    low, high = config.low_freq_factor, config.high_freq_factor
    kept = ((turns - low) / (high - low)).clamp(0, 1)
    return plain * kept + plain / config.factor * (1 - kept)


def _yarn(config: RopeConfig, plain: Tensor, head_dim: int) -> Tensor:
    """As llama3 does, with the blend linear in the dimension instead of in the turns."""

    def dimension(turns: float) -> float:
        wavelength = config.original_max_position / (turns * 2 * pi)
        return head_dim * log(wavelength) / (2 * log(config.theta))

    low, high = dimension(config.beta_fast), dimension(config.beta_slow)
    if config.truncate:
        low, high = floor(low), ceil(high)
    low, high = max(low, 0), min(high, head_dim - 1)
    if low == high:
        high += 0.001
    slowed = ((torch.arange(head_dim // 2).float() - low) / (high - low)).clamp(0, 1)
    return plain / config.factor * slowed + plain * (1 - slowed)


def _scales(config: RopeConfig, head_dim: int) -> Tensor:
    """What cos and sin of each pair are multiplied with: one where nothing turns."""
    dims = config.dims or head_dim
    half = torch.ones(head_dim // 2)
    half[: dims // 2] = _attention_factor(config)
    return half


def _attention_factor(config: RopeConfig) -> float:
    """The temperature of attention, put into cos and sin."""
    if config.kind not in ("yarn", "longrope"):
        return 1.0
    if config.attention_factor is not None:
        return config.attention_factor
    if config.kind == "longrope":
        if config.factor <= 1:
            return 1.0
        return sqrt(1 + log(config.factor) / log(config.original_max_position))
    return 0.1 * log(config.factor) + 1.0 if config.factor > 1 else 1.0
