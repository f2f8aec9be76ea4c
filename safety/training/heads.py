"""What the network says of a window, and the rows that it learns from.

Outputs are the logits of harm and of attack, then one for each hazard category. What is known of
a text decides which of them it teaches: a wrapper says nothing about harm, for example.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safety.taxonomy import Category
from safety.training.example import Example

CATEGORIES: tuple[Category, ...] = tuple(c for c in Category if c is not Category.PROMPT_INJECTION)
HARM, ATTACK, FIRST_CATEGORY = 0, 1, 2
OUTPUTS = FIRST_CATEGORY + len(CATEGORIES)


@dataclass(frozen=True, slots=True)
class Rows:
    """Training rows: word pieces, harmful [n], attack [n], category index or -1 [n], and the
    weight of each in learning harm and in learning attack, float [n]; 0 teaches nothing."""

    pieces: list[list[int]]
    harmful: np.ndarray
    attack: np.ndarray
    categories: np.ndarray
    harm_weights: np.ndarray
    attack_weights: np.ndarray

    def only(self, chosen: np.ndarray) -> "Rows":
        return Rows(
            [self.pieces[row] for row in chosen],
            self.harmful[chosen],
            self.attack[chosen],
            self.categories[chosen],
            self.harm_weights[chosen],
            self.attack_weights[chosen],
        )


@dataclass(frozen=True, slots=True)
class Heads:
    """Weights as `classifier.meaning` takes them."""

    hidden: np.ndarray
    hidden_bias: np.ndarray
    heads: np.ndarray
    heads_bias: np.ndarray

    def logits(self, vectors: np.ndarray) -> np.ndarray:
        """The outputs for unit vectors, float32 [n, OUTPUTS]."""
        inner = np.maximum(vectors @ self.hidden.T + self.hidden_bias, 0.0)
        found: np.ndarray = inner @ self.heads.T + self.heads_bias
        return found


GROUP_WEIGHTS = {"own_acts": 0.5, "own_grammar": 0.7, "tense_attacks": 0.6}
"""Many texts from one act count less; the future tense makes some harm harmless."""


def rows_of(
    examples: Sequence[Example], owners: Sequence[int], pieces: Sequence[list[int]]
) -> Rows:
    """One row for each window; a text's windows share its weight.

    Args:
        owners: the index of the example that each of `pieces` was cut from.
    """
    shares = np.bincount(owners, minlength=len(examples))
    of_row = [examples[owner] for owner in owners]
    weights = np.array(
        [
            GROUP_WEIGHTS.get(e.group, 1.0) / shares[owner] ** 0.5
            for e, owner in zip(of_row, owners, strict=True)
        ]
    )
    is_attack = np.array([e.label == "attack" for e in of_row])
    harmful = np.array([e.label == "harmful" for e in of_row])
    return Rows(
        list(pieces),
        harmful,
        is_attack,
        np.array([_category_index(e.category) for e in of_row]),
        np.where(is_attack, 0.0, weights),
        np.where(harmful, 0.5 * weights, weights),
    )


def _category_index(category: Category | None) -> int:
    return CATEGORIES.index(category) if category in CATEGORIES else -1


def worst_of_each(values: np.ndarray, owners: Sequence[int] | np.ndarray, count: int) -> np.ndarray:
    """The highest of `values` of each owner 0..count-1; -inf for one without any."""
    highest = np.full(count, -np.inf)
    np.maximum.at(highest, np.asarray(owners), values)
    return highest
