"""Grouped-query attention over the paged KV cache."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from inference.kernels.backend import Backend
from inference.kernels.batch import LayerCache
from inference.model.config import ModelConfig
from inference.model.layers.linear import Linear
from inference.model.layers.rope import Rotary
from inference.model.layers.scores import Scores, attend_by
from inference.model.layers.step import Step

QkvTransform = Callable[[Tensor], Tensor]
"""Changes the heads of queries, keys and values, (T, heads + 2 * kv heads, head dim), before the
rotation."""


class Attention:
    """Queries, keys and values from one product, rotated by position; causal.

    Source: Ainslie et al. 2023 (grouped queries); Su et al. 2021 (rotation).
    """

    def __init__(
        self,
        backend: Backend,
        config: ModelConfig,
        rotary: Rotary,
        qkv: Linear,
        out: Linear,
        *,
        window: int | None = None,
        transform: QkvTransform | None = None,
        scores: Scores | None = None,
    ) -> None:
        """
        Args:
            qkv: query, key and value rows below one another.
            window: how many last tokens are attended to; all where None.
            transform: what happens to the heads before the rotation; nothing where None.
            scores: how scores become weights, where it is not by a softmax of them alone. No
                kernel of ours computes that: it is plain torch on every device.
        """
        self._backend = backend
        self._config = config
        self._transform = transform
        self._scores = scores
        self.rotary = rotary
        self.qkv = qkv
        self.out = out
        self.window = window

    @property
    def is_plain(self) -> bool:
        """Whether it is nothing but products, rotation and softmax."""
        return self._transform is None and self._scores is None

    @property
    def waits_for_device(self) -> bool:
        """Whether it reads a result back to go on, which a CUDA graph cannot hold."""
        return self._scores is not None

    def __call__(self, x: Tensor, cache: LayerCache, step: Step) -> Tensor:
        """(T, hidden) to (T, hidden); writes the tokens' keys and values into `cache`."""
        config, ops = self._config, self._backend
        qkv = self.qkv(x).view(len(x), -1, config.head_dim)
        if self._transform is not None:
            qkv = self._transform(qkv)
        angles = step.angles(self.rotary)
        queries = ops.rotate_and_cache(qkv, config.num_kv_heads, angles, cache, step.batch)
        if self._scores is None and not step.batch.has_whole_images:
            attended = ops.attend(queries, cache, step.batch, self.window)
        else:
            rule = self._scores or Scores()
            attended = attend_by(rule, queries, cache, step.batch, self.window)
        return self.out(attended.view(len(x), -1))


@dataclass(frozen=True)
class HeadNorms:
    """RMS norms over each query and key head."""

    config: ModelConfig
    queries: Tensor
    keys: Tensor

    def __call__(self, qkv: Tensor) -> Tensor:
        config = self.config
        queries, keys, values = split_heads(qkv, config)
        queries = F.rms_norm(queries, (config.head_dim,), self.queries, config.rms_eps)
        keys = F.rms_norm(keys, (config.head_dim,), self.keys, config.rms_eps)
        return torch.cat((queries, keys, values), dim=1)


@dataclass(frozen=True)
class ScaledQueries:
    """Scores of another scale than 1 / sqrt(head dim), which all kernels have.

    Args:
        scale: of the scores.
    """

    config: ModelConfig
    scale: float

    def __call__(self, qkv: Tensor) -> Tensor:
        qkv[:, : self.config.num_heads] *= self.scale * self.config.head_dim**0.5
        return qkv


def split_heads(qkv: Tensor, config: ModelConfig) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of (T, heads + 2 * kv heads, head dim)."""
    heads = (config.num_heads, config.num_kv_heads, config.num_kv_heads)
    queries, keys, values = qkv.split(heads, dim=1)
    return queries, keys, values
