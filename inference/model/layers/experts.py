"""Mixtures of experts.

Sources: Shazeer et al. 2017; DeepSeek-AI 2024 (V2: groups, shared experts; V3: corrected choice).
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

    def __init__(
        self,
        config: MoeConfig,
        router: Linear,
        experts: Mapping[int, Mlp],
        correction: Tensor | None = None,
    ) -> None:
        """
        Args:
            experts: may be some of them by number: the others add nothing.
            correction: added to each expert's score when it is chosen, not to its weight.
        """
        self._config = config
        self._correction = correction
        self._router = router
        self._experts = experts

    def __call__(self, x: Tensor) -> Tensor:
        weights, chosen = _route(self._config, self._router(x), self._correction)
        out = torch.zeros_like(x)
        for expert in chosen.unique().tolist():
            if expert not in self._experts:
                continue
            tokens, place = (chosen == expert).nonzero(as_tuple=True)
            weight = weights[tokens, place, None].to(x.dtype)
            compute = self._experts[expert]
            if self._config.weighs_input:
                part = compute(x[tokens] * weight)
            else:
                part = compute(x[tokens]) * weight
            out.index_add_(0, tokens, part)
        return out


class GroupedExperts:
    """`SparseExperts` whose experts are computed together, by one kernel for all."""

    waits_for_device = False

    def __init__(
        self,
        config: MoeConfig,
        router: Linear,
        compute: Callable[[Tensor, Tensor, Tensor], Tensor],
    ) -> None:
        """`compute`: the sum of what the experts chosen (T, per token) make of x (T, hidden), by
        their weights (T, per token); `kernels.gpu.experts.experts_swiglu` of their matrices."""
        self._config = config
        self._router = router
        self._compute = compute

    def __call__(self, x: Tensor) -> Tensor:
        weights, chosen = _route(self._config, self._router(x))
        return self._compute(x, chosen, weights)


class WithShared:
    """A mixture, and an expert that every token goes to."""

    def __init__(self, experts: Mlp, shared: Mlp, gate: Linear | None = None) -> None:
        """`gate` gives the shared expert's weight, before a sigmoid; it is one where None."""
        self.waits_for_device = experts.waits_for_device or shared.waits_for_device
        self._experts = experts
        self._shared = shared
        self._gate = gate

    def __call__(self, x: Tensor) -> Tensor:
        shared = self._shared(x)
        if self._gate is not None:
            shared = torch.sigmoid(self._gate(x)) * shared
        return self._experts(x) + shared


def _route(
    config: MoeConfig, logits: Tensor, correction: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Weights (float32) and numbers of each token's experts, (T, per token) each."""
    logits = logits.float()
    scores = logits.softmax(dim=-1) if config.scores == "softmax" else logits.sigmoid()
    ranking = scores if correction is None else scores + correction
    if config.groups > 1:
        ranking = _in_best_groups(config, ranking)
    chosen = ranking.topk(config.per_token, dim=-1).indices
    weights = scores.gather(1, chosen)
    if config.normalise:
        weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights * config.scale, chosen


def _in_best_groups(config: MoeConfig, ranking: Tensor) -> Tensor:
    """The ranking with all experts of other groups last."""
    groups = ranking.view(len(ranking), config.groups, -1)
    worth = groups.topk(config.group_by, dim=-1).values.sum(-1)
    kept = torch.zeros_like(worth, dtype=torch.bool)
    kept.scatter_(1, worth.topk(config.kept_groups, dim=-1).indices, True)
    return groups.masked_fill(~kept[..., None], -torch.inf).flatten(1)
