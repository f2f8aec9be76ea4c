"""The layer of Llama and its relatives."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from inference.kernels.backend import Backend, LayerParts
from inference.kernels.batch import LayerCache
from inference.model.layers.attention import Attention
from inference.model.layers.mlp import Mlp, SwiGLU
from inference.model.layers.rope import Rotary
from inference.model.layers.step import Step


@dataclass(frozen=True)
class PreNormLayer:
    """Attention, then an MLP, each of the RMS-normed residual stream and added to it."""

    backend: Backend
    eps: float
    attn_norm: Tensor
    attention: Attention
    mlp_norm: Tensor
    mlp: Mlp

    @property
    def waits_for_device(self) -> bool:
        return self.attention.waits_for_device or self.mlp.waits_for_device

    def __call__(
        self, x: Tensor, delta: Tensor | None, cache: LayerCache, step: Step
    ) -> tuple[Tensor, Tensor]:
        ops = self.backend
        normed = ops.add_rms_norm(x, delta, self.attn_norm, self.eps)
        delta = self.attention(normed, cache, step)
        if step.read_rows is not None:
            return x, self._mlp_of(x, delta, step.read_rows)
        normed = ops.add_rms_norm(x, delta, self.mlp_norm, self.eps)
        return x, self.mlp(normed)

    def _mlp_of(self, x: Tensor, attended: Tensor, rows: Tensor) -> Tensor:
        """The MLP of these rows alone; adds what they attended to to theirs of x."""
        delta = torch.zeros_like(x)
        if len(rows):
            some = x[rows]
            normed = self.backend.add_rms_norm(some, attended[rows], self.mlp_norm, self.eps)
            x[rows] = some
            delta[rows] = self.mlp(normed)
        return delta

    def parts(self) -> tuple[LayerParts, Rotary] | None:
        attention, mlp = self.attention, self.mlp
        if not attention.is_plain or not isinstance(mlp, SwiGLU):
            return None
        parts = LayerParts(
            attn_norm=self.attn_norm,
            qkv=attention.qkv,
            out=attention.out,
            mlp_norm=self.mlp_norm,
            gate_up=mlp.gate_up,
            down=mlp.down,
            window=attention.window,
        )
        return parts, attention.rotary
