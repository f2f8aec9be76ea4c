"""The second screen: which stretches the encoder shall read at all.

A logistic regression over the mean of the word pieces' vectors, which no training changes. Two
of ten ordinary stretches end there, of long texts many (docs/decisions/0117, 0119, 0121).
"""

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from safety.score.classifier import gate_logits

PASSED_ON = 0.8
"""Share of the ordinary stretches that the encoder reads."""

AMID_WEIGHT = 6.0
"""Of a stretch amid other words: of long texts few shall pass, so these it must know best."""

SHRINKAGE = 3.0
SPREAD = 18.0


@dataclass(frozen=True, slots=True)
class Gate:
    """`weights` and constant, float32 [SIZE + 1], and the logit `at` and above which it passes
    a stretch on; see `classifier.gate_logits`."""

    weights: np.ndarray
    at: float

    def passes(self, gists: np.ndarray, worse: np.ndarray | float = 0.0) -> np.ndarray:
        """Which of the stretches are passed on, bool [n].

        Args:
            gists: the `encoder.gist` of each, float [n, SIZE].
            worse: by how much each must be worse than `at`, float [n].
        """
        return np.asarray(gate_logits(gists, self.weights) >= self.at + worse)


def fit_gate(gists: np.ndarray, bad: np.ndarray, ordinary: np.ndarray, amid: np.ndarray) -> Gate:
    """The gate that tells stretches `bad` (bool) from others, set by those that are `ordinary`.

    Args:
        amid: which stand amid other words, bool.
    """
    balance = np.where(bad, (~bad).sum() / bad.sum(), 1.0) * np.where(amid, AMID_WEIGHT, 1.0)
    model = LogisticRegression(C=SHRINKAGE, solver="liblinear", random_state=0)
    model.fit(gists * SPREAD, bad, sample_weight=balance)
    weights = np.append(model.coef_[0] * SPREAD, model.intercept_[0]).astype(np.float32)
    logits = gate_logits(gists[ordinary], weights)
    return Gate(weights, float(np.quantile(logits, 1.0 - PASSED_ON)))
