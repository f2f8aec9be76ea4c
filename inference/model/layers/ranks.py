"""Joins what the ranks of a tensor-parallel group computed."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from inference.model.layers.linear import Embedding, Linear


class RankGroup(Protocol):
    """The ranks that hold parts of every layer, seen from one of them."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def part(self, total: int) -> range:
        """This rank's part of `total` things."""
        ...

    def sum(self, x: Tensor) -> Tensor:
        """The sum of all ranks' `x`, in place."""
        ...

    def concatenate(self, x: Tensor, total: int) -> Tensor:
        """All ranks' parts (rows, their share of `total`) side by side."""
        ...


class AllReduced:
    """The sum over all ranks of a part's result: a `Linear` and an `Mlp`."""

    def __init__(self, part: Linear, group: RankGroup, *, waits_for_device: bool = False) -> None:
        """`waits_for_device`: whether the part does. The sum itself is queued as a kernel is."""
        self._part = part
        self._group = group
        self.waits_for_device = waits_for_device

    def __call__(self, x: Tensor) -> Tensor:
        return self._group.sum(self._part(x))


class VocabularyPart:
    """An `Embedding` of which this rank has the rows of a part of the tokens."""

    def __init__(self, part: Embedding, group: RankGroup, vocab_size: int) -> None:
        self._part = part
        self._group = group
        self._own = group.part(vocab_size)

    def rows(self, token_ids: Tensor) -> Tensor:
        own = (token_ids >= self._own.start) & (token_ids < self._own.stop)
        local = (token_ids - self._own.start).clamp(0, len(self._own) - 1)
        return self._group.sum(self._part.rows(local) * own[:, None])


class GatheredLogits:
    """Logits of all tokens from every rank's part of them."""

    def __init__(self, part: Linear, group: RankGroup, vocab_size: int) -> None:
        self._part = part
        self._group = group
        self._vocab_size = vocab_size

    def __call__(self, x: Tensor) -> Tensor:
        return self._group.concatenate(self._part(x), self._vocab_size)
