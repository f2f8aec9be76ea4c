"""Samples a token for each row of logits in one call (`sample.h`).

Tokens are those of `sampling/row_sampler.py` but where a float32 exponential puts a border between
two tokens elsewhere (less than one in 100,000 samples).
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from inference.core import SamplingParams
from inference.kernels.cpu.address import at


class CpuRowSampler:
    """A `RowSampler` (`sampling/row_sampler.py`)."""

    def __init__(self, kernels: ctypes.CDLL) -> None:
        self._kernels = kernels

    def __call__(self, logits: Tensor, params: list[SamplingParams], noise: list[float]) -> Tensor:
        """(R,) token ids from (R, vocab) float32 logits."""
        rows, vocab = logits.shape
        wanted = [
            (p.temperature, min(p.top_k or vocab, vocab), p.top_p, p.min_p, number)
            for p, number in zip(params, noise, strict=True)
        ]
        per_row = torch.tensor(wanted, dtype=torch.float64)
        tokens = torch.empty(rows, dtype=torch.long)
        logits = logits.float().contiguous()
        self._kernels.parley_sample(at(logits), at(per_row), at(tokens), rows, vocab)
        return tokens
