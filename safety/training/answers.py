"""Fits `safety.answer_model`: a logistic regression over stretches of answers.

A text is cut into overlapping stretches that all carry its label. Ordinary prompts serve as
ordinary answers too. See `safety.training.linear`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from safety.answer_model import AnswerModel
from safety.features import spoken_words
from safety.grams import text_rows
from safety.normalise import Vocabulary
from safety.training.example import Example
from safety.training.linear import fit_stretches

MAX_CHARACTERS = 4_000


def is_answer(example: Example) -> bool:
    """Whether `example` is, or can stand for, an answer."""
    ordinary = example.label in {"benign", "borderline"}
    return example.kind == "output" or (ordinary and len(example.text) < 400)


def spoken_answers(examples: Sequence[Example], vocabulary: Vocabulary) -> list[list[str]]:
    """The folded words of each example's beginning."""
    return [spoken_words(e.text[:MAX_CHARACTERS], vocabulary) for e in examples]


def out_of_fold_peaks(
    examples: Sequence[Example],
    spoken: Sequence[Sequence[str]],
    folds: Sequence[frozenset[str]],
    report: Callable[[str], None],
) -> np.ndarray:
    """Each text's highest sum under weights that saw nothing of its fold, int [len(examples)]."""
    rows = [text_rows(text) for text in spoken]
    peaks = np.zeros(len(examples), dtype=np.int64)
    for number, fold in enumerate(folds, start=1):
        seen = [i for i, e in enumerate(examples) if e.group not in fold]
        held = [i for i, e in enumerate(examples) if e.group in fold]
        weights, drift = fit_stretches(
            [rows[i] for i in seen], [examples[i].label == "harmful" for i in seen]
        )
        # No ceiling here: the level that it is set by is what these peaks decide.
        model = AnswerModel(weights, drift, (1e-6, 0.0))
        peaks[held] = [model.peak(spoken[i]) for i in held]
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
