"""The part of a layer that treats every token alone."""

from __future__ import annotations

from typing import Protocol

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
