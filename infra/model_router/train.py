"""Fits the weights of `difficulty`, and says what the router would have done.

Each prompt is scored by weights that have not seen it: once by leaving out tenths of the prompts,
once by leaving out its whole kind, which is nearer to what people will ask.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict

from backend.generation.admission import difficulty
from backend.generation.admission.difficulty import WORD_ROWS, Weights, signs_of, word_rows
from infra.model_router.collect import ANSWERS, Answered

WEIGHTS = Path(difficulty.__file__).with_name("difficulty.json")
THRESHOLDS = (0.25, 0.4, 0.5)
_PRICES = {"small": (0.0001, 0.0002), "large": (0.0002, 0.0004)}
"""US dollars per 1,000 tokens of prompt and answer, as infra/pools.toml and infra/models have."""
_C = 1.0


def features(texts: Sequence[str]) -> np.ndarray:
    """float [texts, signs + WORD_ROWS], as `difficulty` weighs them."""
    found = np.zeros((len(texts), len(signs_of("")) + WORD_ROWS))
    for row, text in zip(found, texts, strict=True):
        signs, words = signs_of(text), list(word_rows(text))
        row[: len(signs)] = signs
        row[[len(signs) + word for word in words]] = (1 / max(len(words), 1)) ** 0.5
    return found


def fit(answered: Sequence[Answered]) -> Weights:
    """The weights by all of them."""
    model = _model().fit(features([one.text for one in answered]), _is_hard(answered))
    [row], signs = model.coef_, len(signs_of(""))
    rounded = [round(float(weight), 4) for weight in row]
    return Weights(
        made_of=hashlib.sha256(ANSWERS.read_bytes()).hexdigest(),
        bias=round(float(model.intercept_[0]), 4),
        signs=tuple(rounded[:signs]),
        words=tuple(rounded[signs:]),
    )


def keep(weights: Weights) -> None:
    WEIGHTS.write_bytes(msgspec.json.encode(weights) + b"\n")


@dataclass(frozen=True, slots=True)
class Routed:
    """What a way of choosing gives, as parts of all prompts."""

    to_small: float
    right: float
    saved: float


def scores(answered: Sequence[Answered]) -> dict[str, np.ndarray]:
    """The difficulty of each prompt, by weights that have not seen it; by what was left out."""
    x, y = features([one.text for one in answered]), _is_hard(answered)
    kinds = [one.kind for one in answered]
    ways = {
        "prompts left out": (StratifiedKFold(10, shuffle=True, random_state=0), None),
        "kinds left out": (GroupKFold(len(set(kinds))), kinds),
    }
    return {
        name: cross_val_predict(_model(), x, y, cv=split, groups=groups, method="predict_proba")[
            :, 1
        ]
        for name, (split, groups) in ways.items()
    }


def accuracy(answered: Sequence[Answered], scored: np.ndarray) -> float:
    """How often a score above one half and a wrong answer of the small model are one."""
    return float(np.mean((scored > 0.5) == _is_hard(answered)))


def routed(answered: Sequence[Answered], is_small: np.ndarray) -> Routed:
    """Where the prompts marked go to the small model, the others to the large one."""
    right = [
        one.small.is_right if small else one.large.is_right
        for one, small in zip(answered, is_small, strict=True)
    ]
    paid = sum(
        _cost(one, "small" if small else "large")
        for one, small in zip(answered, is_small, strict=True)
    )
    usual = sum(_cost(one, "large") for one in answered)
    return Routed(float(np.mean(is_small)), float(np.mean(right)), 1 - paid / usual)


def _cost(one: Answered, model: str) -> float:
    of_prompt, of_answer = _PRICES[model]
    answer = one.small if model == "small" else one.large
    return one.input_tokens * of_prompt + answer.output_tokens * of_answer


def _is_hard(answered: Sequence[Answered]) -> np.ndarray:
    return np.array([not one.small.is_right for one in answered])


def _model() -> LogisticRegression:
    return LogisticRegression(C=_C, max_iter=2_000)
