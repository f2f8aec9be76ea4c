"""Fits `safety.score.answer_model`: the suspicion over words, the judge over the encoder's vectors.

The suspicion is a logistic regression over stretches of answers that all carry their text's
label (`safety.training.linear`); ordinary prompts serve it as ordinary answers too. The judge is
one over vectors of stretches of answers alone. Both are fitted without each fold to say how they
do on unseen sources, and what an ordinary answer looks like to them, which calibrates them.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from safety.read.normalise import Vocabulary
from safety.score.answer_model import AnswerModel
from safety.score.classifier import STRETCH_WORDS
from safety.score.encoder import SIZE, Encoder
from safety.score.features import spoken_words
from safety.score.grams import text_rows
from safety.training.example import Example
from safety.training.folds import EXAM, FOLDS
from safety.training.heads import worst_of_each
from safety.training.linear import fit_stretches
from safety.training.packages import CACHE

MAX_CHARACTERS = 4_000
MAX_STRETCHES = 8
JUDGE_SHRINKAGE = 3.0
SPREAD = 18.0

LOOKED_AT = 0.5
"""Share of ordinary answers that raise a suspicion, which the judge then looks at."""

POINTS = (0.98, 0.997)
"""Shares of ordinary answers that stay below a score of 0.5, and below one of 0.8."""

ORDINARY = frozenset({"ordinary_answers_even", "ordinary_answers_odd"})


@dataclass(frozen=True, slots=True)
class Answers:
    """The trained arrays, and the `logits` of the judge for `examples`, of unseen sources."""

    arrays: dict[str, np.ndarray]
    examples: list[Example]
    logits: np.ndarray


def is_answer(example: Example) -> bool:
    """Whether `example` is, or can stand for, an answer."""
    ordinary = example.label in {"benign", "borderline"}
    short_prompt = ordinary and example.kind == "prompt" and len(example.text) < 400
    return example.kind == "output" or (short_prompt and example.group not in EXAM)


def fit_answers(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    encoder: Encoder,
    report: Callable[[str], None],
) -> Answers:
    """Everything about answers, from all `examples`."""
    chosen = [e for e in examples if is_answer(e)]
    spoken = [spoken_words(e.text[:MAX_CHARACTERS], vocabulary) for e in chosen]
    taught = [i for i, e in enumerate(chosen) if e.group not in EXAM]
    weights, drift = fit_stretches(
        [text_rows(spoken[i]) for i in taught], [chosen[i].label == "harmful" for i in taught]
    )
    look_at = _level(chosen, spoken, report)
    outputs = [i for i, e in enumerate(chosen) if e.kind == "output"]
    examples_judged = [chosen[i] for i in outputs]
    logits, judge = _judge(examples_judged, [spoken[i] for i in outputs], encoder, report)
    ordinary = np.array([e.group in ORDINARY for e in examples_judged])
    at_half, at_threshold = np.quantile(logits[ordinary], POINTS)
    slope = float(np.log(4.0) / max(at_threshold - at_half, 1e-3))
    return Answers(
        {
            "weights": weights,
            "drift": np.array(drift),
            "look_at": np.array(look_at),
            "judge": judge.astype(np.float32),
            "calibration": np.array([slope, -slope * at_half]),
        },
        examples_judged,
        logits,
    )


def _level(
    examples: Sequence[Example], spoken: Sequence[Sequence[str]], report: Callable[[str], None]
) -> int:
    """The sum that LOOKED_AT of the ordinary answers of unseen sources reach."""
    rows = [text_rows(text) for text in spoken]
    peaks: list[int] = []
    for fold in FOLDS:
        held = [i for i, e in enumerate(examples) if e.group in fold & ORDINARY]
        if not held:
            continue
        seen = [i for i, e in enumerate(examples) if e.group not in fold | EXAM]
        model = AnswerModel(
            *fit_stretches([rows[i] for i in seen], [examples[i].label == "harmful" for i in seen]),
            look_at=1 << 30,
            judge=np.zeros(SIZE + 1),
            calibration=(1.0, 0.0),
        )
        peaks += [model.peak(spoken[i]) for i in held]
        report(f"suspicion: {len(held)} ordinary answers held out")
    return max(1, int(np.quantile(peaks, 1.0 - LOOKED_AT)))


def _judge(
    examples: Sequence[Example],
    spoken: Sequence[Sequence[str]],
    encoder: Encoder,
    report: Callable[[str], None],
) -> tuple[np.ndarray, np.ndarray]:
    """The highest logit of each answer by a judge that saw nothing of its fold (those of no fold:
    by the one that saw all the others), and that last one's weights."""
    owners, stretches = _stretches(spoken)
    vectors = encoded(stretches, encoder)
    report(f"{len(stretches)} stretches of {len(examples)} answers")
    harmful = np.array([e.label == "harmful" for e in examples])
    shares = np.bincount(owners, minlength=len(examples))[owners] ** -0.5
    group = np.array([e.group for e in examples])

    def fitted(seen: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(seen[owners])
        return _regression(vectors[rows], harmful[owners[rows]], shares[rows])

    may_teach = ~np.isin(group, list(EXAM))
    judge = fitted(may_teach)
    logits = _highest(judge, vectors, owners, len(examples))
    for fold in FOLDS:
        held = np.isin(group, list(fold))
        if held.any():
            found = _highest(fitted(may_teach & ~held), vectors, owners, len(examples))
            logits[held] = found[held]
    return logits, judge


def _stretches(spoken: Sequence[Sequence[str]]) -> tuple[np.ndarray, list[Sequence[str]]]:
    """At most MAX_STRETCHES of each answer, spread over it; they may overlap by half."""
    owners: list[int] = []
    stretches: list[Sequence[str]] = []
    for index, words in enumerate(spoken):
        last = max(0, len(words) - STRETCH_WORDS)
        count = min(MAX_STRETCHES, 1 + 2 * last // STRETCH_WORDS)
        for start in sorted({int(place) for place in np.linspace(0, last, count)}):
            owners.append(index)
            stretches.append(words[start : start + STRETCH_WORDS])
    return np.array(owners), stretches


def encoded(stretches: Sequence[Sequence[str]], encoder: Encoder) -> np.ndarray:
    """The encoder's vectors, float32 [stretches, SIZE]; kept in a file by content."""
    digest = hashlib.sha256(encoder.digest.encode())
    for stretch in stretches:
        digest.update(" ".join(stretch).encode("utf-8", "surrogatepass") + b"\n")
    path = CACHE / f"vectors-{digest.hexdigest()[:16]}.npy"
    if not path.exists():
        np.save(path, np.stack([encoder.encode(stretch) for stretch in stretches]))
    kept: np.ndarray = np.load(path)
    return kept


def _regression(vectors: np.ndarray, harmful: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Weights and constant, float [SIZE + 1]; harm weighs as much as the rest in all."""
    weights = np.where(harmful, shares[~harmful].sum(), shares[harmful].sum())
    weights = weights * shares
    model = LogisticRegression(C=JUDGE_SHRINKAGE, solver="liblinear", random_state=0)
    model.fit(vectors * SPREAD, harmful, sample_weight=weights / weights.mean())
    return np.append(model.coef_[0] * SPREAD, model.intercept_[0])


def _highest(judge: np.ndarray, vectors: np.ndarray, owners: np.ndarray, count: int) -> np.ndarray:
    return worst_of_each(vectors @ judge[:-1] + judge[-1], owners, count)
