"""Fits `safety.answer_model`: a logistic regression over stretches of answers.

A text is cut into overlapping stretches that all carry its label. Ordinary prompts serve as
ordinary answers too. Sparse and convex: seconds on one core, the same weights every time.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from safety.answer_model import GRAM_BITS, STRETCH, AnswerModel, gram_buckets
from safety.features import spoken_words
from safety.normalise import Vocabulary
from safety.training.sources import Example

SHRINKAGE = 0.5
HARMFUL_WEIGHT = 3.0
MAX_STRETCHES = 12
MAX_CHARACTERS = 4_000
WHOLE = 500.0
"""Stored weights are the regression's times this, as whole numbers."""


def is_answer(example: Example) -> bool:
    """Whether `example` is, or can stand for, an answer."""
    ordinary = example.label in {"benign", "borderline"}
    return example.kind == "output" or (ordinary and len(example.text) < 400)


def spoken_answers(examples: Sequence[Example], vocabulary: Vocabulary) -> list[list[str]]:
    """The folded words of each example's beginning."""
    return [spoken_words(e.text[:MAX_CHARACTERS], vocabulary) for e in examples]


def grams_of(spoken: Sequence[str]) -> np.ndarray:
    """Buckets, int64 [len(spoken), 3], as the product meets them."""
    before = ["", *spoken]
    before2 = ["", "", *spoken]
    found = [gram_buckets(a, b, word) for a, b, word in zip(before2, before, spoken, strict=False)]
    return np.array(found, dtype=np.int64).reshape(-1, 3)


def fit(spoken: Sequence[Sequence[str]], harmful: Sequence[bool]) -> tuple[np.ndarray, int]:
    """Weights, int16 by bucket, and the drift of a word, fitted to texts with these labels."""
    stretches: list[np.ndarray] = []
    labels: list[bool] = []
    importance: list[float] = []
    for text, label in zip(spoken, harmful, strict=True):
        grams = grams_of(text)
        step = STRETCH // 2
        starts = list(range(0, max(1, len(grams) - step), step))[:MAX_STRETCHES]
        stretches += [grams[start : start + STRETCH].reshape(-1) for start in starts]
        labels += [label] * len(starts)
        importance += [len(starts) ** -0.5] * len(starts)
    columns = np.concatenate(stretches)
    rows = np.cumsum([0, *(len(stretch) for stretch in stretches)])
    shape = (len(stretches), 1 << GRAM_BITS)
    features = sparse.csr_matrix((np.ones(len(columns)), columns, rows), shape=shape)
    features.sum_duplicates()
    features.data = np.minimum(features.data, 2.0)
    model = LogisticRegression(
        C=SHRINKAGE,
        solver="liblinear",
        class_weight={False: 1.0, True: HARMFUL_WEIGHT},
        random_state=0,
    )
    model.fit(features, np.array(labels), sample_weight=np.array(importance))
    weights = np.clip(np.round(model.coef_[0] * WHOLE), -32767, 32767).astype(np.int16)
    return weights, round(float(model.intercept_[0]) / STRETCH * WHOLE)


def highest(model: AnswerModel, spoken: Sequence[str]) -> int:
    """The highest sum that the words reach."""
    evidence = peak = 0
    before2 = before = ""
    for word in spoken:
        evidence = model.step(evidence, before2, before, word)
        before2, before = before, word
        peak = max(peak, evidence)
    return peak


def out_of_fold_peaks(
    examples: Sequence[Example],
    spoken: Sequence[Sequence[str]],
    folds: Sequence[frozenset[str]],
    report: Callable[[str], None],
) -> np.ndarray:
    """Each text's highest sum under weights that saw nothing of its fold, int [len(examples)]."""
    peaks = np.zeros(len(examples), dtype=np.int64)
    for number, fold in enumerate(folds, start=1):
        seen = [i for i, e in enumerate(examples) if e.group not in fold]
        held = [i for i, e in enumerate(examples) if e.group in fold]
        weights, drift = fit(
            [spoken[i] for i in seen], [examples[i].label == "harmful" for i in seen]
        )
        # No ceiling here: the level that it is set by is what these peaks decide.
        model = AnswerModel(weights, drift, (1e-6, 0.0))
        peaks[held] = [highest(model, spoken[i]) for i in held]
        report(f"answers, fold {number} of {len(folds)}: {len(held)} held out")
    return peaks


def calibrate(examples: Sequence[Example], peaks: np.ndarray) -> tuple[float, float]:
    """Slope and shift: 1 in 50 ordinary answers reach a score of 0.5, 1 in 200 one of 0.8."""
    ordinary = [
        peak
        for peak, e in zip(peaks, examples, strict=True)
        if e.kind == "output" and e.label == "benign"
    ]
    at_half, at_threshold = np.quantile(ordinary, [0.98, 0.995])
    slope = float(np.log(4.0) / max(at_threshold - at_half, 1.0))
    return slope, float(-slope * at_half)
