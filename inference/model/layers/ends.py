"""What is before the first layer of most decoders, and after the last."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from inference.kernels.backend import Backend
from inference.kernels.batch import Batch
from inference.model.layers.linear import Embedding, Linear


@dataclass(frozen=True)
class TokenEnds:
    """A row for each token; an RMS norm, and logits from one product."""

    backend: Backend
    eps: float
    embedding: Embedding
    norm: Tensor
    lm_head: Linear
    embedding_scale: float = 1.0
    logit_scale: float = 1.0
    logit_cap: float | None = None
    """Logits are kept within it: cap * tanh(logit / cap)."""

    def embed(self, batch: Batch) -> Tensor:
        rows = self.embedding.rows(batch.token_ids)
        return rows if self.embedding_scale == 1 else rows * self.embedding_scale

    def normed(self, x: Tensor, delta: Tensor) -> Tensor:
        return self.backend.add_rms_norm(x, delta, self.norm, self.eps)

    def logits(self, normed: Tensor) -> Tensor:
        logits = self.lm_head(normed)
        if self.logit_scale != 1:
            logits = logits * self.logit_scale
        if self.logit_cap is not None:
            logits = self.logit_cap * torch.tanh(logits / self.logit_cap)
        return logits
