"""Mixtures of experts.

Source: Shazeer et al. 2017; the routing is Qwen3-MoE's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from inference.model.config import MoeConfig
from inference.model.layers.linear import Linear
from inference.model.layers.mlp import Mlp


class SparseExperts:
    """Mixture of experts: the router's best experts for each token, weighted and summed.

    Only experts that some token chose are computed, each for all its tokens at once.
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
