"""From labelled prompts to the classifier's weights, and to what it says of unseen sources.

Out of fold: each text is scored by weights that saw nothing of its source nor of the sources in
its fold. Two things are made from all texts, without a label's help or hardly: the words that
folding knows, and which stretches of a long text the encoder reads (by the shipped screen).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from safety.classifier import STRETCH_WORDS, attack_logit, suspicious_stretches
from safety.encoder import Encoder
from safety.features import spoken_words
from safety.grams import text_rows
from safety.normalise import Vocabulary
from safety.training.example import Example
from safety.training.folds import FOLDS
from safety.training.heads import (
    CATEGORIES,
    Heads,
    Rows,
    category_index,
    train_heads,
    worst_of_each,
)
from safety.training.linear import fit_attacks, fit_stretches
from safety.training.packages import CACHE

MAX_CHARACTERS = 4_000
GROUP_WEIGHTS = {"own_acts": 0.35, "tense_attacks": 0.6}
"""Nine texts from each act count as about three; the future tense makes some harm harmless."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts as numbers. `owners[i]` is the example that stretch `i` was cut from; only the
    first `plain` stretches are what the product would read, the others are for training."""

    examples: list[Example]
    rows: list[np.ndarray]
    owners: list[int]
    vectors: np.ndarray
    plain: int

    @property
    def first_vectors(self) -> np.ndarray:
        """The vector of each example's worst stretch, [examples, SIZE]."""
        _, first = np.unique(self.owners[: self.plain], return_index=True)
        return np.asarray(self.vectors[first])


@dataclass(frozen=True, slots=True)
class Screen:
    """The linear layer that picks stretches; see `linear.fit_stretches`."""

    weights: np.ndarray
    drift: int

    def suspicions(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.weights.astype(np.int32)[rows].sum(axis=1) + self.drift)


def prepare(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    encoder: Encoder,
    report: Callable[[str], None],
) -> tuple[Prompts, Screen]:
    """Fold, screen and encode the prompts among `examples`."""
    prompts = [e for e in examples if e.kind == "prompt"]
    spoken = [spoken_words(e.text[:MAX_CHARACTERS], vocabulary) for e in prompts]
    rows = [text_rows(words) for words in spoken]
    judged = [i for i, e in enumerate(prompts) if e.label != "attack"]
    weights, drift = fit_stretches(
        [rows[i] for i in judged], [prompts[i].label == "harmful" for i in judged]
    )
    screen = Screen(weights, drift)
    owners: list[int] = []
    stretches: list[Sequence[str]] = []
    for index, words in enumerate(spoken):
        found = suspicious_stretches(words, screen.suspicions(rows[index]))
        if prompts[index].label == "harmful":
            found = found[:1]
        owners += [index] * len(found)
        stretches += found
    added = list(surrounded(prompts, spoken))
    owners += [index for index, _ in added]
    stretches += [stretch for _, stretch in added]
    report(f"{len(prompts)} prompts, {len(stretches)} stretches to encode")
    plain = len(owners) - len(added)
    return Prompts(prompts, rows, owners, _encoded(stretches, encoder), plain), screen


def surrounded(
    prompts: Sequence[Example], spoken: Sequence[Sequence[str]]
) -> Iterator[tuple[int, Sequence[str]]]:
    """Short requests amid words of an ordinary one, as the window of a long text shows them.

    Every second harmful prompt and every fourth other one, so that a request is known by its
    own words, and what stands around it proves nothing. The words come from a prompt of the
    same fold: nothing of a held-out source gets into training.
    """
    generator = np.random.default_rng(0)
    fold_of = {group: number for number, fold in enumerate(FOLDS) for group in fold}
    around: dict[int, list[int]] = {}
    for index, example in enumerate(prompts):
        if example.label == "benign" and len(spoken[index]) >= STRETCH_WORDS // 2:
            around.setdefault(fold_of[example.group], []).append(index)
    for index, example in enumerate(prompts):
        room = STRETCH_WORDS - len(spoken[index])
        wanted = index % (2 if example.label == "harmful" else 4) == 0
        others = around.get(fold_of[example.group])
        if example.label == "attack" or not wanted or room < STRETCH_WORDS // 3 or not others:
            continue
        other = spoken[others[int(generator.integers(len(others)))]]
        before = int(generator.integers(room + 1))
        ahead = other[:before]
        yield index, [*ahead, *spoken[index], *other[len(ahead) : len(ahead) + room - before]]


def _encoded(stretches: Sequence[Sequence[str]], encoder: Encoder) -> np.ndarray:
    """Vectors, float32 [stretches, SIZE]; kept in a file by content, for it takes minutes."""
    digest = hashlib.sha256()
    for stretch in stretches:
        digest.update(" ".join(stretch).encode("utf-8", "surrogatepass") + b"\n")
    path = CACHE / f"vectors-{digest.hexdigest()[:16]}.npy"
    if not path.exists():
        np.save(path, np.stack([encoder.encode(stretch) for stretch in stretches]))
    kept: np.ndarray = np.load(path)
    return kept


def training_rows(prompts: Prompts) -> Rows:
    """Every stretch with its text's label; attacks, whose harm is unknown, have no weight."""
    examples = [prompts.examples[owner] for owner in prompts.owners]
    shares = np.bincount(prompts.owners, minlength=len(prompts.examples))
    weights = [
        0.0 if e.label == "attack" else GROUP_WEIGHTS.get(e.group, 1.0) / shares[owner] ** 0.5
        for e, owner in zip(examples, prompts.owners, strict=True)
    ]
    return Rows(
        prompts.vectors,
        np.array([e.label == "harmful" for e in examples]),
        np.array([category_index(e.category) for e in examples]),
        np.array(weights),
    )


def fit_heads(prompts: Prompts, rows: Rows, seen: np.ndarray, *, seed: int) -> Heads:
    """The heads fitted to the stretches of the examples that `seen` (bool) names."""
    chosen = np.flatnonzero(seen[prompts.owners] & (rows.weights > 0))
    return train_heads(rows.only(chosen), seed=seed)


def fit_attack(prompts: Prompts, seen: np.ndarray) -> np.ndarray:
    chosen = np.flatnonzero(seen)
    return fit_attacks(
        [prompts.rows[i] for i in chosen], [prompts.examples[i].label == "attack" for i in chosen]
    )


def out_of_fold(
    prompts: Prompts, *, seed: int, report: Callable[[str], None]
) -> tuple[np.ndarray, np.ndarray]:
    """Logits of harm and of attack, and category logits, each by weights that saw no kin.

    Returns:
        float [examples, 2], and the category logits of each one's worst stretch.
    """
    count = len(prompts.examples)
    rows = training_rows(prompts)
    logits = np.full((count, 2), -np.inf)
    named = np.zeros((count, len(CATEGORIES)))
    for number, fold in enumerate(FOLDS, start=1):
        held = np.array([e.group in fold for e in prompts.examples])
        report(f"fold {number} of {len(FOLDS)}: {int(held.sum())} prompts held out")
        found = fit_heads(prompts, rows, ~held, seed=seed).logits(prompts.vectors)
        found = found[: prompts.plain]
        harm = worst_of_each(found[:, 0], prompts.owners[: prompts.plain], count)
        logits[held, 0] = harm[held]
        for stretch, owner in enumerate(prompts.owners[: prompts.plain]):
            if held[owner] and found[stretch, 0] >= harm[owner]:
                named[owner] = found[stretch, 1:]
        weights = fit_attack(prompts, ~held).astype(np.int32)
        for index in np.flatnonzero(held):
            logits[index, 1] = attack_logit(weights[prompts.rows[index]].sum(axis=1))
    return logits, named
