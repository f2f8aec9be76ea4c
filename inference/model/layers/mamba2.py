"""Mamba-2: a state of fixed size for each sequence in place of keys and values.

Chunks of prompts are computed by matrix products over blocks of tokens, decode requests by the
recurrence; both in float32, by plain torch. The state goes from chunk to chunk in its slot.

    state = exp(dt * a) * state + dt * x ⊗ b        y = state · c + d * x

Source: Dao and Gu 2024 (Transformers are SSMs), sections 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.batch import Batch, DecodeBatch, LayerCache, PrefillChunk
from inference.model.layers.linear import Linear

_BLOCK = 128
"""Tokens whose influence on one another is one product; the state is carried between blocks."""

Gate = Callable[[Tensor, Tensor], Tensor]
"""(T, inner) results and gates to (T, inner)."""


@dataclass(frozen=True)
class MambaShape:
    num_heads: int
    head_dim: int
    groups: int
    """Heads of a group share b and c."""
    state_size: int
    kernel: int
    """Tokens that the convolution sees."""

    @property
    def inner(self) -> int:
        return self.num_heads * self.head_dim

    @property
    def channels(self) -> int:
        """Of the convolution: x, b and c."""
        return self.inner + 2 * self.groups * self.state_size

    @property
    def states(self) -> tuple[tuple[int, ...], ...]:
        """What is kept of a sequence: the tokens that the convolution still sees, and the state."""
        recurrent = (self.num_heads, self.head_dim, self.state_size)
        return (self.kernel - 1, self.channels), recurrent


@dataclass(frozen=True)
class MambaWeights:
    into: Linear
    """To gate, x, b, c and dt, side by side."""
    out: Linear
    conv: Tensor
    """(channels, kernel)"""
    conv_bias: Tensor | None
    dt_bias: Tensor
    a_log: Tensor
    d: Tensor


class Mamba2:
    waits_for_device = True  # nothing here was recorded yet

    def __init__(
        self,
        shape: MambaShape,
        weights: MambaWeights,
        gate: Gate,
        factors: Tensor | None = None,
        dt_limits: tuple[float, float] = (0.0, float("inf")),
    ) -> None:
        """
        Args:
            factors: of what `weights.into` gives, column by column.
        """
        self._shape = shape
        self._into, self._out = weights.into, weights.out
        self._conv = weights.conv.float().T.contiguous()
        self._conv_bias = None if weights.conv_bias is None else weights.conv_bias.float()
        self._dt_bias, self._d = weights.dt_bias.float(), weights.d.float()
        self._a = -weights.a_log.float().exp()
        self._gate = gate
        self._factors = factors
        self._dt_limits = dt_limits

    def __call__(self, x: Tensor, cache: LayerCache, batch: Batch) -> Tensor:
        """(T, hidden) to (T, hidden); writes the sequences' states into `cache`."""
        shape = self._shape
        projected = self._into(x).float()
        if self._factors is not None:
            projected = projected * self._factors
        gates, mixed, dt = projected.split((shape.inner, shape.channels, shape.num_heads), dim=-1)
        dt = F.softplus(dt + self._dt_bias).clamp(*self._dt_limits)
        out = torch.empty(len(x), shape.num_heads, shape.head_dim, device=x.device)
        if batch.decode is not None:
            rows = slice(0, batch.num_decode)
            out[rows] = self._decode(mixed[rows], dt[rows], cache, batch.decode)
        for chunk in batch.prefill:
            rows = slice(chunk.begin, chunk.end)
            out[rows] = self._prefill(mixed[rows], dt[rows], cache, chunk)
        return self._out(self._gate(out.flatten(1), gates).to(x.dtype))

    def _decode(self, mixed: Tensor, dt: Tensor, cache: LayerCache, decode: DecodeBatch) -> Tensor:
        """One token of each sequence, by the recurrence."""
        assert decode.states is not None, "the batch was made for a model without states"
        convolved, recurrent = cache.states
        seen = torch.cat((convolved[decode.states], mixed[:, None]), dim=1)
        convolved[decode.states] = seen[:, 1:]
        x, b, c = self._split(self._activated((seen * self._conv).sum(1)))
        state = recurrent[decode.states] * (dt * self._a).exp()[..., None, None]
        state += (x * dt[..., None])[..., None] * self._of_heads(b)[:, :, None]
        recurrent[decode.states] = state
        return (state @ self._of_heads(c)[..., None])[..., 0] + x * self._d[:, None]

    def _prefill(self, mixed: Tensor, dt: Tensor, cache: LayerCache, chunk: PrefillChunk) -> Tensor:
        """Tokens of one sequence, in blocks."""
        convolved, recurrent = (states[chunk.state] for states in cache.states)
        if chunk.start == 0:  # what lies there is another sequence's
            convolved.zero_()
            recurrent.zero_()
        seen = torch.cat((convolved, mixed))
        convolved.copy_(seen[len(mixed) :])
        sums = sum(seen[k : k + len(mixed)] * self._conv[k] for k in range(self._shape.kernel))
        assert isinstance(sums, Tensor)
        x, b, c = self._split(self._activated(sums))
        out = x * self._d[:, None]
        state = recurrent
        for begin in range(0, len(x), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            given, state = self._block(x[rows], dt[rows], b[rows], c[rows], state)
            out[rows] += given
        recurrent.copy_(state)
        return out

    def _block(
        self, x: Tensor, dt: Tensor, b: Tensor, c: Tensor, state: Tensor
    ) -> tuple[Tensor, Tensor]:
        """What a block of tokens gives without `d`, and the state after it.

        Args:
            x: (L, heads, head dim); `dt` (L, heads), `b` and `c` (L, groups, state size).
            state: (heads, head dim, state size) before it.
        """
        decay = (dt * self._a).cumsum(0).T  # (heads, L), of the logarithm
        later = torch.ones(len(x), len(x), dtype=torch.bool, device=x.device).triu(1)
        between = (decay[:, :, None] - decay[:, None]).masked_fill(later, -torch.inf).exp()
        b_heads, c_heads = (self._of_heads(each).transpose(0, 1) for each in (b, c))
        x_heads = (x * dt[..., None]).transpose(0, 1)
        out = (c_heads @ b_heads.mT * between) @ x_heads
        out += decay.exp()[..., None] * (c_heads @ state.mT)
        left = (decay[:, -1:] - decay).exp()[..., None] * x_heads
        after = decay[:, -1].exp()[:, None, None] * state + left.mT @ b_heads
        return out.transpose(0, 1), after

    def _activated(self, sums: Tensor) -> Tensor:
        return F.silu(sums if self._conv_bias is None else sums + self._conv_bias)

    def _split(self, mixed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """x (T, heads, head dim), b and c (T, groups, state size)."""
        shape = self._shape
        of_groups = shape.groups * shape.state_size
        x, b, c = mixed.split((shape.inner, of_groups, of_groups), dim=-1)
        heads = x.reshape(len(x), shape.num_heads, shape.head_dim)
        grouped = [each.reshape(len(x), shape.groups, shape.state_size) for each in (b, c)]
        return heads, grouped[0], grouped[1]

    def _of_heads(self, grouped: Tensor) -> Tensor:
        """(T, groups, state size) to (T, heads, state size)."""
        return grouped.repeat_interleave(self._shape.num_heads // self._shape.groups, dim=1)


def silu_gate(y: Tensor, gates: Tensor) -> Tensor:
    return y * F.silu(gates)


@dataclass(frozen=True)
class NormedGate:
    """A gate, and an RMS norm over each group before or after it."""

    weight: Tensor
    eps: float
    groups: int
    norm_first: bool

    def __call__(self, y: Tensor, gates: Tensor) -> Tensor:
        if not self.norm_first:
            return self._normed(silu_gate(y, gates))
        return silu_gate(self._normed(y), gates)

    def _normed(self, y: Tensor) -> Tensor:
        grouped = y.view(len(y), self.groups, -1)
        normed = F.rms_norm(grouped, grouped.shape[-1:], None, self.eps)
        return normed.flatten(1) * self.weight.float()
