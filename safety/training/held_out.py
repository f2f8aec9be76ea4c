"""What the classifiers said of texts whose source they had not seen, kept for the benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safety.training.corpus import corpus_digest
from safety.training.example import Example
from safety.training.heads import FIRST_CATEGORY, OUTPUTS
from safety.training.packages import CACHE
from safety.training.prompts import with_linear


class NotTrained(RuntimeError):
    """`python -m safety.training.train` has not been run on this machine, or for another corpus."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Scores by source-blind weights.

    Attributes:
        prompts: all prompts, with the uncalibrated `logits` [n, 2] of harm and attack, the
            `scores` [n, 2] that they mean, and the logits of the categories, `named`.
        scored: which of them were held out, bool [n]; our own requests never are.
        answers: texts as answers, with the score [m] of their worst window.
    """

    prompts: list[Example]
    scored: np.ndarray
    logits: np.ndarray
    scores: np.ndarray
    named: np.ndarray
    answers: list[Example]
    answer_scores: np.ndarray


def keep(examples: Sequence[Example], **arrays: np.ndarray) -> None:
    """Store `of_exam`, `calibration`, `attack_weight`, `answers` and `answer_calibration`; the
    first three hold one thing for each of `classifier.SLOW_CPU_PENALTY`."""
    np.savez(_path(examples), **arrays)  # type: ignore[arg-type]


def kept(examples: Sequence[Example], unseen: np.ndarray, *, is_slow: bool) -> HeldOut:
    """What the last training kept about this corpus.

    Args:
        unseen: `prompts.fold_scores` of all folds, float [2, prompts, OUTPUTS + 1].
        is_slow: as `Classifier` takes it.
    Raises:
        NotTrained: nothing is kept.
    """
    if not is_kept(examples):
        raise NotTrained("Run `python -m safety.training.train --check`: it keeps the scores.")
    with np.load(_path(examples), allow_pickle=False) as arrays:
        scores = np.maximum(unseen, arrays["of_exam"])[int(is_slow)]
        logits = with_linear(scores, float(arrays["attack_weight"][int(is_slow)]))
        slope, shift = arrays["calibration"][int(is_slow)]
        answer_slope, answer_shift = arrays["answer_calibration"]
        return HeldOut(
            [e for e in examples if e.kind == "prompt"],
            np.isfinite(logits[:, 0]),
            logits,
            _sigmoid(slope * logits + shift),
            scores[:, FIRST_CATEGORY:OUTPUTS],
            [e for e in examples if e.kind == "output"],
            _sigmoid(answer_slope * arrays["answers"] + answer_shift),
        )


def is_kept(examples: Sequence[Example]) -> bool:
    return _path(examples).exists()


def _path(examples: Sequence[Example]) -> Path:
    return CACHE / f"held-out-both-{corpus_digest(examples)[:12]}.npz"


def _sigmoid(logits: np.ndarray) -> np.ndarray:
    found: np.ndarray = 1.0 / (1.0 + np.exp(-np.clip(logits, -50, 50)))
    return found
