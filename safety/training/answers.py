"""Fits `safety.score.answer_model`: the cheap score over words, the verifier over vectors.

The cheap score is a logistic regression over windows of answers that all carry their text's
label (`safety.training.linear`); ordinary prompts serve it as ordinary answers too. The verifier
is one over the encoder's vectors of windows of answers alone. Both are fitted without each fold
too, to say how they do on unseen sources, and how ordinary answers score, which calibrates them.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression

from safety.read.normalise import Vocabulary
from safety.score.answer_model import AnswerModel
from safety.score.encoder import SIZE, Encoder
from safety.score.features import normalized_words
from safety.score.grams import text_rows
from safety.score.screens import WINDOW_WORDS
from safety.training.example import Example
from safety.training.folds import EXAM, FOLDS
from safety.training.heads import worst_of_each
from safety.training.linear import fit_windows
from safety.training.packages import CACHE

MAX_CHARACTERS = 4_000
MAX_WINDOWS = 8
VERIFIER_SHRINKAGE = 3.0
SPREAD = 18.0

VERIFIED = 0.5
"""Share of ordinary answers whose cheap score asks the verifier."""

POINTS = (0.98, 0.997)
"""Shares of ordinary answers that stay below a score of 0.5, and below one of 0.8."""

ORDINARY = frozenset({"ordinary_answers_even", "ordinary_answers_odd"})


@dataclass(frozen=True, slots=True)
class Answers:
    """The trained arrays, and the `logits` of the verifier for `examples`, of unseen sources."""

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
    texts = [normalized_words(e.text[:MAX_CHARACTERS], vocabulary) for e in chosen]
    taught = [i for i, e in enumerate(chosen) if e.group not in EXAM]
    weights, drift = fit_windows(
        [text_rows(texts[i]) for i in taught], [chosen[i].label == "harmful" for i in taught]
    )
    verify_from = _level(chosen, texts, report)
    outputs = [i for i, e in enumerate(chosen) if e.kind == "output"]
    answers = [chosen[i] for i in outputs]
    logits, verifier = _verifier(answers, [texts[i] for i in outputs], encoder, report)
    ordinary = np.array([e.group in ORDINARY for e in answers])
    at_half, at_threshold = np.quantile(logits[ordinary], POINTS)
    slope = float(np.log(4.0) / max(at_threshold - at_half, 1e-3))
    return Answers(
        {
            "weights": weights,
            "drift": np.array(drift),
            "look_at": np.array(verify_from),
            "judge": verifier.astype(np.float32),
            "calibration": np.array([slope, -slope * at_half]),
        },
        answers,
        logits,
    )


def _level(
    examples: Sequence[Example], texts: Sequence[Sequence[str]], report: Callable[[str], None]
) -> int:
    """The sum that VERIFIED of the ordinary answers of unseen sources reach."""
    rows = [text_rows(text) for text in texts]
    peaks: list[int] = []
    for fold in FOLDS:
        held = [i for i, e in enumerate(examples) if e.group in fold & ORDINARY]
        if not held:
            continue
        seen = [i for i, e in enumerate(examples) if e.group not in fold | EXAM]
        model = AnswerModel(
            *fit_windows([rows[i] for i in seen], [examples[i].label == "harmful" for i in seen]),
            verify_from=1 << 30,
            verifier=np.zeros(SIZE + 1),
            calibration=(1.0, 0.0),
        )
        peaks += [model.peak(texts[i]) for i in held]
        report(f"cheap score: {len(held)} ordinary answers held out")
    return max(1, int(np.quantile(peaks, 1.0 - VERIFIED)))


def _verifier(
    examples: Sequence[Example],
    texts: Sequence[Sequence[str]],
    encoder: Encoder,
    report: Callable[[str], None],
) -> tuple[np.ndarray, np.ndarray]:
    """The highest logit of each answer by a verifier that saw nothing of its fold (of no fold: by
    the one that saw all the others), and that last one's weights."""
    owners, windows = _windows(texts)
    vectors = encoded(windows, encoder)
    report(f"{len(windows)} windows of {len(examples)} answers")
    harmful = np.array([e.label == "harmful" for e in examples])
    shares = np.bincount(owners, minlength=len(examples))[owners] ** -0.5
    group = np.array([e.group for e in examples])

    def fitted(seen: np.ndarray) -> np.ndarray:
        rows = np.flatnonzero(seen[owners])
        return _regression(vectors[rows], harmful[owners[rows]], shares[rows])

    may_teach = ~np.isin(group, list(EXAM))
    verifier = fitted(may_teach)
    logits = _highest(verifier, vectors, owners, len(examples))
    for fold in FOLDS:
        held = np.isin(group, list(fold))
        if held.any():
            found = _highest(fitted(may_teach & ~held), vectors, owners, len(examples))
            logits[held] = found[held]
    return logits, verifier


def _windows(texts: Sequence[Sequence[str]]) -> tuple[np.ndarray, list[Sequence[str]]]:
    """At most MAX_WINDOWS of each answer, spread over it; they may overlap by half."""
    owners: list[int] = []
    windows: list[Sequence[str]] = []
    for index, words in enumerate(texts):
        last = max(0, len(words) - WINDOW_WORDS)
        count = min(MAX_WINDOWS, 1 + 2 * last // WINDOW_WORDS)
        for start in sorted({int(place) for place in np.linspace(0, last, count)}):
            owners.append(index)
            windows.append(words[start : start + WINDOW_WORDS])
    return np.array(owners), windows


def encoded(windows: Sequence[Sequence[str]], encoder: Encoder) -> np.ndarray:
    """The encoder's vectors, float32 [windows, SIZE]; kept in a file by content."""
    digest = hashlib.sha256(encoder.digest.encode())
    for window in windows:
        digest.update(" ".join(window).encode("utf-8", "surrogatepass") + b"\n")
    path = CACHE / f"vectors-{digest.hexdigest()[:16]}.npy"
    if not path.exists():
        np.save(path, np.stack([encoder.encode(window) for window in windows]))
    kept: np.ndarray = np.load(path)
    return kept


def _regression(vectors: np.ndarray, harmful: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Weights and constant, float [SIZE + 1]; harm weighs as much as the rest in all."""
    weights = np.where(harmful, shares[~harmful].sum(), shares[harmful].sum())
    weights = weights * shares
    model = LogisticRegression(C=VERIFIER_SHRINKAGE, solver="liblinear", random_state=0)
    model.fit(vectors * SPREAD, harmful, sample_weight=weights / weights.mean())
    return np.append(model.coef_[0] * SPREAD, model.intercept_[0])


def _highest(
    verifier: np.ndarray, vectors: np.ndarray, owners: np.ndarray, count: int
) -> np.ndarray:
    return worst_of_each(vectors @ verifier[:-1] + verifier[-1], owners, count)
