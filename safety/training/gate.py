"""The second screen: which stretches the encoder's upper layers shall read at all.

A logistic regression over the mean of what the lower layers say, which no training changes. Three
of ten ordinary stretches end there, of long texts most (docs/decisions/0117, 0119).
"""

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from safety.classifier import gate_logits

PASSED_ON = 0.7
"""Share of the ordinary stretches that the upper layers read."""

SHRINKAGE = 3.0
SPREAD = 18.0


@dataclass(frozen=True, slots=True)
class Gate:
    """`weights` and constant, float32 [SIZE + 1], and the logit `at` and above which it passes
    a stretch on; see `classifier.gate_logits`."""

    weights: np.ndarray
    at: float

    def passes(self, means: np.ndarray, worse: np.ndarray | float = 0.0) -> np.ndarray:
        """Which of the stretches are passed on, bool [n].

        Args:
            means: unit vectors of what the lower layers say, float [n, SIZE].
            worse: by how much each must be worse than `at`, float [n].
        """
        return np.asarray(gate_logits(means, self.weights) >= self.at + worse)


def fit_gate(means: np.ndarray, bad: np.ndarray, ordinary: np.ndarray) -> Gate:
    """The gate that tells stretches `bad` (bool) from others, set by those that are `ordinary`."""
    balance = np.where(bad, (~bad).sum() / bad.sum(), 1.0)
    model = LogisticRegression(C=SHRINKAGE, solver="liblinear", random_state=0)
    model.fit(means * SPREAD, bad, sample_weight=balance)
    weights = np.append(model.coef_[0] * SPREAD, model.intercept_[0]).astype(np.float32)
    logits = gate_logits(means[ordinary], weights)
    return Gate(weights, float(np.quantile(logits, 1.0 - PASSED_ON)))
