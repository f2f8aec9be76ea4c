"""The small network over the encoder's vectors: harm, and the hazard category.

MEMBERS networks that differ in their seed are trained and their outputs averaged; side by side
they are one wider network, which is what is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from safety.encoder import SIZE
from safety.taxonomy import Category

CATEGORIES: tuple[Category, ...] = tuple(c for c in Category if c is not Category.PROMPT_INJECTION)
MEMBERS = 4
HIDDEN = 96
EPOCHS = 8
BATCH = 256
SPREAD = 18.0
"""Brings the parts of a unit vector to about one, which the step size is chosen for."""

CATEGORY_SHARE = 0.3


@dataclass(frozen=True, slots=True)
class Rows:
    """Training rows: vectors [n, SIZE], harmful [n], category index or -1 [n], weight [n]."""

    vectors: np.ndarray
    harmful: np.ndarray
    categories: np.ndarray
    weights: np.ndarray

    def only(self, chosen: np.ndarray) -> "Rows":
        return Rows(
            self.vectors[chosen],
            self.harmful[chosen],
            self.categories[chosen],
            self.weights[chosen],
        )


@dataclass(frozen=True, slots=True)
class Heads:
    """Weights as `classifier.meaning` takes them."""

    hidden: np.ndarray
    hidden_bias: np.ndarray
    heads: np.ndarray
    heads_bias: np.ndarray

    def logits(self, vectors: np.ndarray) -> np.ndarray:
        """Logits of harm and of the categories, float32 [n, 1 + categories]."""
        inner = np.maximum(vectors @ self.hidden.T + self.hidden_bias, 0.0)
        found: np.ndarray = inner @ self.heads.T + self.heads_bias
        return found


def train_heads(rows: Rows, *, seed: int) -> Heads:
    """Networks fitted to `rows`; on one thread the same seed and rows give the same weights."""
    members = [_member(rows, seed=seed + number) for number in range(MEMBERS)]
    return Heads(
        np.concatenate([member.hidden for member in members]),
        np.concatenate([member.hidden_bias for member in members]),
        np.concatenate([member.heads for member in members], axis=1) / MEMBERS,
        np.stack([member.heads_bias for member in members]).mean(axis=0, dtype=np.float32),
    )


def _member(rows: Rows, *, seed: int) -> Heads:
    torch.manual_seed(seed)
    centre = rows.vectors.mean(axis=0)
    inputs = torch.from_numpy((rows.vectors - centre) * SPREAD).float()
    harmful = torch.from_numpy(rows.harmful).float()
    balance = (rows.weights[~rows.harmful].sum()) / max(rows.weights[rows.harmful].sum(), 1e-9)
    weights = torch.from_numpy(np.where(rows.harmful, balance, 1.0) * rows.weights).float()
    categories = torch.from_numpy(rows.categories).long()
    first, last = nn.Linear(SIZE, HIDDEN), nn.Linear(HIDDEN, 1 + len(CATEGORIES))
    network = nn.Sequential(first, nn.ReLU(), nn.Dropout(0.2), last)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=0.02)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(inputs)).split(BATCH):
            loss = _loss(network(inputs[batch]), harmful[batch], categories[batch], weights[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    hidden = first.weight.detach().numpy() * SPREAD
    return Heads(
        hidden.astype(np.float32),
        (first.bias.detach().numpy() - hidden @ centre).astype(np.float32),
        last.weight.detach().numpy(),
        last.bias.detach().numpy(),
    )


def _loss(logits: Tensor, harmful: Tensor, categories: Tensor, weights: Tensor) -> Tensor:
    each = nn.functional.binary_cross_entropy_with_logits(logits[:, 0], harmful, reduction="none")
    loss = (each * weights).mean()
    if (categories >= 0).any():
        named = nn.functional.cross_entropy(logits[:, 1:], categories, ignore_index=-1)
        loss = loss + CATEGORY_SHARE * named
    return loss


def category_index(category: Category | None) -> int:
    return CATEGORIES.index(category) if category in CATEGORIES else -1


def worst_of_each(values: np.ndarray, owners: Sequence[int], count: int) -> np.ndarray:
    """The highest of `values` of each owner 0..count-1; -inf for one without any."""
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, np.asarray(owners), values)
    return highest
