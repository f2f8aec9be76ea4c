"""Fits the embedding screen: which windows the encoder reads at all.

A logistic regression over the mean of the word pieces' vectors, which no training changes. Two
of ten ordinary windows end there, of long texts many.
"""

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from safety.score.screens import embedding_screen_logits

PASSED_ON = 0.8
"""Share of the ordinary windows that the encoder reads."""

AMID_WEIGHT = 6.0
"""Of a window amid other words: few of those are to pass, so the screen must know them best."""

SHRINKAGE = 3.0
SPREAD = 18.0


@dataclass(frozen=True, slots=True)
class EmbeddingScreen:
    """`weights` and constant, float32 [SIZE + 1], and the logit `at` and above which it passes
    a window on; see `screens.embedding_screen_logits`."""

    weights: np.ndarray
    at: float

    def passes(self, mean_embeddings: np.ndarray, worse: np.ndarray | float = 0.0) -> np.ndarray:
        """Which of the windows are passed on, bool [n].

        Args:
            mean_embeddings: the `encoder.mean_embedding` of each, float [n, SIZE].
            worse: by how much each must be worse than `at`, float [n].
        """
        return np.asarray(embedding_screen_logits(mean_embeddings, self.weights) >= self.at + worse)


def fit_embedding_screen(
    mean_embeddings: np.ndarray, bad: np.ndarray, ordinary: np.ndarray, amid: np.ndarray
) -> EmbeddingScreen:
    """The screen that tells windows `bad` (bool) from others, set by those that are `ordinary`.

    Args:
        amid: which stand amid other words, bool.
    """
    balance = np.where(bad, (~bad).sum() / bad.sum(), 1.0) * np.where(amid, AMID_WEIGHT, 1.0)
    model = LogisticRegression(C=SHRINKAGE, solver="liblinear", random_state=0)
    model.fit(mean_embeddings * SPREAD, bad, sample_weight=balance)
    weights = np.append(model.coef_[0] * SPREAD, model.intercept_[0]).astype(np.float32)
    logits = embedding_screen_logits(mean_embeddings[ordinary], weights)
    return EmbeddingScreen(weights, float(np.quantile(logits, 1.0 - PASSED_ON)))
