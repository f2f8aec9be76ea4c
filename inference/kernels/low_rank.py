"""Adapters side by side: what each adds to the products of its own rows of a batch.

A row's adapter adds `up^T (down x)` to a product. The rows of an adapter lie next to one another in
a step, so that each adapter of it is one low-rank product over its rows, and the base one product
over all. A step without adapters computes exactly what a model without them does.
Source: Hu et al. 2021 (LoRA); Sheng et al. 2023 (S-LoRA).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

Product = Callable[[Tensor], Tensor]
"""A matrix that rows are multiplied with: (..., in) to (..., out)."""


@dataclass(frozen=True)
class Update:
    """What is added to some columns of a product, of one of the matrices that it is made of."""

    first: int
    """Column of the product."""
    columns: int
    row: int
    """Of `LowRank.down`, where its rows begin."""
    rank: int
    up: Tensor
    """(rank, columns), in the order that `Adds.ordered_up` has made."""


@dataclass(frozen=True)
class LowRank:
    """What an adapter adds to one product."""

    down: Tensor
    """(ranks, width): the rows of all updates below one another, filled up with zeros to a multiple
    of four, each in the order that `Adds.ordered_down` has made."""
    updates: tuple[Update, ...]
    scales: Tensor | None = None
    """(ranks,) float32, of what `down` gives, where the numbers are rounded to whole ones."""


@dataclass(frozen=True, eq=False)
class Adapter:
    """What an adapter adds, by the first of our names of the matrices that a product is made of."""

    updates: Mapping[str, LowRank]

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(
            low.down.nbytes + sum(update.up.nbytes for update in low.updates)
            for low in self.updates.values()
        )

    @property
    def dtype(self) -> torch.dtype:
        return next(iter(self.updates.values())).down.dtype


@dataclass(frozen=True)
class AdaptedRows:
    """Rows [begin, end) of a batch have this adapter."""

    begin: int
    end: int
    adapter: Adapter


@dataclass
class StepAdapters:
    """The adapters of the step that is computed, set by the layers before the first of them runs:
    their products have no other way to know."""

    rows: tuple[AdaptedRows, ...] = ()


class Adds(Protocol):
    """How a low-rank product is computed."""

    largest_whole: int
    """What rounded numbers reach up to, where they are to be int8."""

    def ordered_down(self, down: Tensor) -> Tensor:
        """`down` (ranks, width) as this reads it."""
        ...

    def ordered_up(self, up: Tensor) -> Tensor:
        """`up` (rank, columns) as this reads it."""
        ...

    def __call__(self, low: LowRank, x: Tensor, y: Tensor) -> None:
        """Add to y (T, columns), in place, what x (T, width) gives."""
        ...


class TorchLowRank:
    """By torch, on any device."""

    largest_whole = 127

    def ordered_down(self, down: Tensor) -> Tensor:
        return down

    def ordered_up(self, up: Tensor) -> Tensor:
        return up

    def __call__(self, low: LowRank, x: Tensor, y: Tensor) -> None:
        shrunk = x @ low.down.to(x.dtype).T
        if low.scales is not None:
            shrunk *= low.scales
        for each in low.updates:
            own = shrunk[:, each.row : each.row + each.rank]
            y[:, each.first : each.first + each.columns].addmm_(own, each.up.to(x.dtype))


class AdaptedProduct:
    """A product to which the rows of a step that have an adapter get what that adds."""

    def __init__(self, base: Product, name: str, step: StepAdapters, add: Adds) -> None:
        """
        Args:
            name: that adapters have for it.
        """
        self.base = base
        self.name = name
        self._step = step
        self._add = add

    def __call__(self, x: Tensor) -> Tensor:
        y = self.base(x)
        for rows in self._step.rows:
            if low := rows.adapter.updates.get(self.name):
                self._add(low, x[rows.begin : rows.end], y[rows.begin : rows.end])
        return y

    @property
    def is_plain(self) -> bool:
        """Whether no row of this step has an adapter."""
        return not self._step.rows


def without_adapters(product: Product) -> Product:
    """The product alone."""
    return product.base if isinstance(product, AdaptedProduct) else product


def plain_in_step(product: Product) -> Product:
    """The product alone where no row of this step has an adapter; else as it is."""
    if isinstance(product, AdaptedProduct) and product.is_plain:
        return product.base
    return product
