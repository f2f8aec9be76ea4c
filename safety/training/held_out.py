"""What the classifiers said of texts whose source they had not seen, kept for `safety.bench`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safety.answer_model import AnswerModel
from safety.training.answers import is_answer
from safety.training.corpus import corpus_digest
from safety.training.example import Example
from safety.training.packages import CACHE


class NotTrained(RuntimeError):
    """`python -m safety.train` has not been run on this machine, or for another corpus."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Scores by source-blind weights.

    Attributes:
        prompts: the prompts, with the uncalibrated `logits` [n, 2] of harm and attack, the
            `scores` [n, 2] that they mean, and the logits of the categories, `named`.
        vectors: the encoder's vector of each prompt's first stretch, for a baseline.
        answers: texts as answers, with the score [m] of their highest sum.
    """

    prompts: list[Example]
    logits: np.ndarray
    scores: np.ndarray
    named: np.ndarray
    vectors: np.ndarray
    answers: list[Example]
    answer_scores: np.ndarray


def keep(examples: Sequence[Example], **arrays: np.ndarray) -> None:
    """Store `logits`, `named`, `calibration`, `vectors`, `peaks` and `answer_calibration`."""
    np.savez(CACHE / f"held-out-{corpus_digest(examples)[:12]}.npz", **arrays)  # type: ignore[arg-type]


def kept(examples: Sequence[Example]) -> HeldOut:
    """What the last training kept about this corpus.

    Raises:
        NotTrained: nothing is kept.
    """
    path = CACHE / f"held-out-{corpus_digest(examples)[:12]}.npz"
    if not path.exists():
        raise NotTrained("`python -m safety.train --check` keeps the scores; it has not been run.")
    with np.load(path, allow_pickle=False) as arrays:
        logits, peaks = arrays["logits"], arrays["peaks"]
        slope, shift = arrays["calibration"]
        answer_slope, answer_shift = arrays["answer_calibration"]
        model = AnswerModel(np.zeros(1), 0, (float(answer_slope), float(answer_shift)))
        return HeldOut(
            [e for e in examples if e.kind == "prompt"],
            logits,
            1.0 / (1.0 + np.exp(-np.clip(slope * logits + shift, -50, 50))),
            arrays["named"],
            arrays["vectors"],
            [e for e in examples if is_answer(e)],
            np.array([model.score(int(peak)) for peak in peaks]),
        )
