"""The parts of a decoder that hold weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.backend import Backend
from inference.model.config import MoeConfig


class Linear(Protocol):
    """A matrix that rows are multiplied with, however it is stored."""

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


class Mlp(Protocol):
    """The part of a layer that treats every token alone."""

    waits_for_device: bool
    """Whether it reads a result back to go on, which a CUDA graph cannot hold."""

    def __call__(self, x: Tensor) -> Tensor:
        """(T, hidden) to (T, hidden)."""
        ...


class SwiGLU:
    """down(silu(gate(x)) * up(x)), gate and up in one matrix.

    Source: Shazeer 2020.
    """

    waits_for_device = False

    def __init__(self, backend: Backend, gate_up: Linear, down: Linear) -> None:
        self._backend = backend
        self.gate_up = gate_up
        self.down = down

    def __call__(self, x: Tensor) -> Tensor:
        return self.down(self._backend.swiglu(self.gate_up(x)))


class SparseExperts:
    """Mixture of experts: the router's best experts for each token, weighted and summed.

    Only experts that some token chose are computed, each for all its tokens at once.
    Source: Shazeer et al. 2017; the routing is Qwen3-MoE's.
    """

    waits_for_device = True  # for which experts were chosen

    def __init__(self, config: MoeConfig, router: Linear, experts: Mapping[int, Mlp]) -> None:
        """`experts` may be some of them by number: the others add nothing."""
        self._config = config
        self._router = router
        self._experts = experts

    def __call__(self, x: Tensor) -> Tensor:
        weights, chosen = _route(self._config, self._router(x))
        out = torch.zeros_like(x)
        for expert in chosen.unique().tolist():
            if expert not in self._experts:
                continue
            tokens, place = (chosen == expert).nonzero(as_tuple=True)
            part = self._experts[expert](x[tokens]) * weights[tokens, place, None].to(x.dtype)
            out.index_add_(0, tokens, part)
        return out


class GroupedExperts:
    """`SparseExperts` whose experts are computed together, by one kernel for all."""

    waits_for_device = False

    def __init__(
        self,
        config: MoeConfig,
        router: Linear,
        gate_up: Tensor,
        down: Tensor,
        compute: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor],
    ) -> None:
        """`gate_up` (experts, 2 * inner, hidden), `down` (experts, hidden, inner), and
        `kernels.gpu.experts.experts_swiglu`."""
        self._config = config
        self._router = router
        self._gate_up = gate_up
        self._down = down
        self._compute = compute

    def __call__(self, x: Tensor) -> Tensor:
        weights, chosen = _route(self._config, self._router(x))
        return self._compute(x, chosen, weights, self._gate_up, self._down)


def _route(config: MoeConfig, logits: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (float32) and numbers of each token's experts, (T, per token) each."""
    weights, chosen = logits.softmax(dim=-1, dtype=torch.float32).topk(config.per_token, dim=-1)
    if config.normalise:
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights, chosen
