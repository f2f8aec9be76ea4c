"""The layer of families that norm, or scale, what a branch adds to the residual stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from inference.kernels.backend import Backend, LayerParts
from inference.kernels.batch import LayerCache
from inference.model.layers.mlp import Mlp
from inference.model.layers.rope import Rotary
from inference.model.layers.step import Step


class Attends(Protocol):
    @property
    def waits_for_device(self) -> bool: ...

    def __call__(self, x: Tensor, cache: LayerCache, step: Step) -> Tensor:
        """(T, hidden) to (T, hidden); writes the tokens' keys and values into `cache`."""
        ...


@dataclass(frozen=True)
class BranchNorms:
    """Weights of the RMS norms of a branch, None where there is none, and what is made of it."""

    before: Tensor | None = None
    after: Tensor | None = None
    scale: float = 1.0
    """Of what is added, after the norm."""


@dataclass(frozen=True)
class NormedBranchesLayer:
    """Attention, then an MLP, each normed where its norms say, and added to what entered it."""

    backend: Backend
    eps: float
    attention: Attends
    attn_norms: BranchNorms
    mlp: Mlp
    mlp_norms: BranchNorms

    @property
    def waits_for_device(self) -> bool:
        return self.attention.waits_for_device or self.mlp.waits_for_device

    def __call__(
        self, x: Tensor, delta: Tensor | None, cache: LayerCache, step: Step
    ) -> tuple[Tensor, Tensor]:
        attended = self.attention(self._entering(x, delta, self.attn_norms), cache, step)
        delta = self._leaving(attended, self.attn_norms)
        given = self.mlp(self._entering(x, delta, self.mlp_norms))
        return x, self._leaving(given, self.mlp_norms)

    def _entering(self, x: Tensor, delta: Tensor | None, norms: BranchNorms) -> Tensor:
        """What a branch reads; `x` is the sum of both afterwards."""
        if norms.before is not None:
            return self.backend.add_rms_norm(x, delta, norms.before, self.eps)
        return x if delta is None else x.add_(delta)

    def _leaving(self, given: Tensor, norms: BranchNorms) -> Tensor:
        if norms.after is not None:
            given = self.backend.add_rms_norm(given, None, norms.after, self.eps)
        return given if norms.scale == 1 else given * norms.scale

    def parts(self) -> tuple[LayerParts, Rotary] | None:
        return None
