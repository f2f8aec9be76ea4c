"""The part of a layer that treats every token alone."""

from __future__ import annotations

from typing import Protocol

import torch.nn.functional as F
from torch import Tensor

from inference.kernels.backend import Backend
from inference.model.layers.linear import Linear


class Mlp(Protocol):
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
        return self._backend.mlp(x, self.gate_up, self.down)


class GeGLU:
    """down(gelu(gate(x)) * up(x)), gate and up in one matrix; gelu by its tanh approximation.

    Source: Shazeer 2020; Hendrycks and Gimpel 2016.
    """

    waits_for_device = False

    def __init__(self, gate_up: Linear, down: Linear) -> None:
        self._gate_up = gate_up
        self._down = down

    def __call__(self, x: Tensor) -> Tensor:
        gate, up = self._gate_up(x).chunk(2, dim=-1)
        return self._down(F.gelu(gate, approximate="tanh") * up)
