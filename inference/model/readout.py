"""Readouts: a linear function of what one layer leaves, for every token that is computed.

They cost one product of (tokens, hidden) with (readouts, hidden) a step. Their values lie in slots
beside the tokens' keys and values, so that they are there for a cached prefix too, and follow a
block wherever it is copied.
Source: Alain and Bengio 2016 (linear classifier probes).
"""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from inference.errors import ModelLoadError
from inference.model.config import ModelConfig


class Readout:
    """`values` of slots, (slots, readouts) float32, and how they are computed."""

    def __init__(self, layer: int, weight: Tensor, bias: Tensor) -> None:
        """
        Args:
            layer: how many layers are computed before it is read.
            weight: (readouts, hidden) float32.
            bias: (readouts,) float32.
        """
        self.layer = layer
        self.num = len(weight)
        self.weight = weight.contiguous()
        self.bias = bias.contiguous()
        self.allocate(1)

    @classmethod
    def load(cls, path: Path, model: ModelConfig, device: torch.device) -> Readout:
        """From a safetensors file with `weight`, `bias` (or none) and `layer` in its metadata.

        Raises:
            ModelLoadError: when it is no such file, or one for another model.
        """
        try:
            with safe_open(str(path), framework="pt") as file:
                layer = int((file.metadata() or {})["layer"])
                weight = file.get_tensor("weight").float()
                bias = weight.new_zeros(len(weight))
                if "bias" in list(file.keys()):
                    bias = file.get_tensor("bias").float()
        except (SafetensorError, OSError, KeyError, ValueError) as error:
            raise ModelLoadError(f"{path} holds no readout: {error}") from error
        fits = weight.ndim == 2 and weight.shape[1] == model.hidden_size
        if not fits or bias.shape != weight.shape[:1]:
            raise ModelLoadError(
                f"{path} has weights {tuple(weight.shape)} and a bias {tuple(bias.shape)} "
                f"for hidden states of {model.hidden_size}"
            )
        if not 0 < layer < model.num_layers:
            raise ModelLoadError(f"{path} reads layer {layer} of {model.num_layers}")
        return cls(layer, weight.to(device), bias.to(device))

    def allocate(self, num_slots: int) -> None:
        """Make room for the values of so many tokens."""
        self.values = torch.zeros(num_slots, self.num, device=self.weight.device)

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """As those of `LayerCache`."""
        return (self.values,)

    def store(self, x: Tensor, delta: Tensor, slots: Tensor) -> None:
        """Compute the values of x + delta (T, hidden) and keep them in their (T,) slots."""
        states = (x + delta).float()
        self.values.index_copy_(0, slots, torch.addmm(self.bias, states, self.weight.T))
