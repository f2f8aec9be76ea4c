"""Sparse logistic regressions over grams, stored as whole numbers: seconds on one core, the
same weights every time."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from safety.score.answer_model import REGRESSION_WORDS
from safety.score.classifier import attack_windows
from safety.score.grams import GRAM_BITS

WHOLE = 500.0
"""Stored weights are the regression's times this, as whole numbers."""

MAX_LABELLED_WINDOWS = 12
WINDOW_SHRINKAGE = 0.5
ATTACK_SHRINKAGE = 30.0
MAX_ATTACK_WINDOWS = 4
POSITIVE_WEIGHT = 3.0


def fit_windows(rows: Sequence[np.ndarray], labels: Sequence[bool]) -> tuple[np.ndarray, int]:
    """Weights, int16 by row of the table, and the drift of a word.

    Each text is cut into overlapping windows of REGRESSION_WORDS words that all carry its label.

    Args:
        rows: `grams.text_rows` of each text.
    """
    windows: list[np.ndarray] = []
    label_of: list[bool] = []
    importance: list[float] = []
    step = REGRESSION_WORDS // 2
    for text, label in zip(rows, labels, strict=True):
        starts = list(range(0, max(1, len(text) - step), step))[:MAX_LABELLED_WINDOWS]
        windows += [text[start : start + REGRESSION_WORDS] for start in starts]
        label_of += [label] * len(starts)
        importance += [len(starts) ** -0.5] * len(starts)
    features = _counts(windows)
    features.data = np.minimum(features.data, 2.0)
    model = _fitted(features, label_of, importance, WINDOW_SHRINKAGE, POSITIVE_WEIGHT)
    return _whole(model.coef_[0]), round(float(model.intercept_[0]) / REGRESSION_WORDS * WHOLE)


def fit_attacks(rows: Sequence[np.ndarray], labels: Sequence[bool]) -> np.ndarray:
    """Weights, int16 by row, for `classifier.attack_logit`; its constant is the calibration's."""
    windows: list[np.ndarray] = []
    label_of: list[bool] = []
    importance: list[float] = []
    for text, label in zip(rows, labels, strict=True):
        of_text = attack_windows(text)[:MAX_ATTACK_WINDOWS]
        windows += of_text
        label_of += [label] * len(of_text)
        importance += [1.0 / len(of_text)] * len(of_text)
    features = _counts(windows)
    features.data[:] = 1.0
    distinct = np.maximum(1, np.diff(features.indptr))
    features = sparse.diags(distinct**-0.5) @ features
    share = sum(label_of) / len(label_of)
    model = _fitted(features.tocsr(), label_of, importance, ATTACK_SHRINKAGE, 0.5 / share)
    return _whole(model.coef_[0])


def _counts(texts: Sequence[np.ndarray]) -> sparse.csr_matrix:
    columns = np.concatenate([text.reshape(-1) for text in texts])
    borders = np.cumsum([0, *(text.size for text in texts)])
    shape = (len(texts), 1 << GRAM_BITS)
    counts = sparse.csr_matrix((np.ones(len(columns)), columns, borders), shape=shape)
    counts.sum_duplicates()
    return counts


def _fitted(
    features: sparse.csr_matrix,
    labels: Sequence[bool],
    importance: Sequence[float],
    shrinkage: float,
    positive: float,
) -> LogisticRegression:
    model = LogisticRegression(
        C=shrinkage,
        solver="liblinear",
        class_weight={False: 1.0, True: positive},
        random_state=0,
    )
    model.fit(features, np.array(labels), sample_weight=np.array(importance))
    return model


def _whole(weights: np.ndarray) -> np.ndarray:
    return np.clip(np.round(weights * WHOLE), -32767, 32767).astype(np.int16)
