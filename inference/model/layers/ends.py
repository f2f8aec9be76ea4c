"""What is before the first layer of most decoders, and after the last."""

from __future__ import annotations

from dataclasses import dataclass

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

    def embed(self, batch: Batch) -> Tensor:
        return self.embedding.rows(batch.token_ids)

    def normed(self, x: Tensor, delta: Tensor) -> Tensor:
        return self.backend.add_rms_norm(x, delta, self.norm, self.eps)

    def logits(self, normed: Tensor) -> Tensor:
        return self.lm_head(normed)
