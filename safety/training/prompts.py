"""From labelled prompts to stretches, and to what the classifier says of unseen sources.

Out of fold: each text is scored by weights that saw nothing of its source nor of the sources in
its fold. Two things are made from all texts, without a label's help or hardly: the words that
folding knows, and which stretches of a long text the encoder reads (by the shipped screen).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from safety.classifier import STRETCH_WORDS, attack_logit, suspicious_stretches
from safety.encoder import Pieces
from safety.features import spoken_words
from safety.grams import text_rows
from safety.normalise import Vocabulary
from safety.training.example import Example
from safety.training.finetune import LowerLayers, Tuned, Tuning
from safety.training.folds import EXAM, FOLDS, fold_of
from safety.training.heads import ATTACK, HARM, OUTPUTS, Rows, rows_of, worst_of_each
from safety.training.linear import fit_attacks, fit_stretches
from safety.training.packages import CACHE

MAX_CHARACTERS = 4_000
STRETCHES_TAUGHT = {"harmful": 1, "attack": 2}
"""Of a longer text only the worst stretches carry its label."""

_LINEAR = OUTPUTS
"""The column after the network's outputs: the linear logit of an attack."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The linear layer that picks stretches; see `linear.fit_stretches`."""

    weights: np.ndarray
    drift: int

    def suspicions(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.weights.astype(np.int32)[rows].sum(axis=1) + self.drift)


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts as numbers. `owners[i]` is the example that stretch `i` was cut from; only the
    first `plain` stretches are what the product would read, the others are for training."""

    examples: list[Example]
    grams: list[np.ndarray]
    owners: np.ndarray
    rows: Rows
    plain: int
    lower: LowerLayers

    def stretches_of(self, wanted: np.ndarray) -> np.ndarray:
        """The stretches that the product would read of the examples in `wanted` (bool)."""
        return np.flatnonzero(wanted[self.owners[: self.plain]])


def prepare(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    pieces: Pieces,
    report: Callable[[str], None],
) -> tuple[Prompts, Screen]:
    """Fold, screen and cut the prompts among `examples`, and pass them through the lower layers."""
    prompts = [e for e in examples if e.kind == "prompt"]
    spoken = [spoken_words(e.text[:MAX_CHARACTERS], vocabulary) for e in prompts]
    grams = [text_rows(words) for words in spoken]
    taught = [i for i, e in enumerate(prompts) if e.group not in EXAM]
    bad = {"harmful", "attack"}
    screen = Screen(
        *fit_stretches([grams[i] for i in taught], [prompts[i].label in bad for i in taught])
    )
    owners: list[int] = []
    stretches: list[Sequence[str]] = []
    for index, words in enumerate(spoken):
        found = suspicious_stretches(words, screen.suspicions(grams[index]))
        found = found[: STRETCHES_TAUGHT.get(prompts[index].label)]
        owners += [index] * len(found)
        stretches += found
    plain = len(owners)
    for index, stretch in surrounded(prompts, spoken):
        owners.append(index)
        stretches.append(stretch)
    report(f"{len(prompts)} prompts, {len(stretches)} stretches")
    cut = [pieces.rows(stretch) for stretch in stretches]
    rows = rows_of(prompts, owners, cut)
    lower = LowerLayers(pieces, cut)
    report("passed through the lower layers")
    return Prompts(prompts, grams, np.array(owners), rows, plain, lower), screen


def surrounded(
    prompts: Sequence[Example], spoken: Sequence[Sequence[str]]
) -> Iterator[tuple[int, Sequence[str]]]:
    """Short requests amid words of an ordinary one, as the window of a long text shows them.

    Every third harmful prompt and every sixth other one, so that a request is known by its
    own words, and what stands around it proves nothing. The words come from prompts of the
    same fold: nothing of a held-out source gets into training.
    """
    generator = np.random.default_rng(0)
    around = _long_ordinary(prompts, spoken)
    for index, example in enumerate(prompts):
        room = STRETCH_WORDS - len(spoken[index])
        wanted = index % (3 if example.label == "harmful" else 6) == 0
        others = around.get(fold_of(example.group))
        unfit = example.label == "attack" or example.group in EXAM or room < STRETCH_WORDS // 3
        if unfit or not wanted or not others:
            continue
        other = others[int(generator.integers(len(others)))]
        before = int(generator.integers(room + 1))
        ahead = other[:before]
        yield index, [*ahead, *spoken[index], *other[len(ahead) : len(ahead) + room - before]]


def _long_ordinary(
    prompts: Sequence[Example], spoken: Sequence[Sequence[str]]
) -> dict[int, list[list[str]]]:
    """By fold, ordinary words enough to stand around a request; short texts are joined."""
    around: dict[int, list[list[str]]] = {}
    open_text: dict[int, list[str]] = {}
    for example, words in zip(prompts, spoken, strict=True):
        if example.label not in {"benign", "borderline"} or example.group in EXAM:
            continue
        fold = fold_of(example.group)
        text = open_text.setdefault(fold, [])
        text.extend(words)
        if len(text) >= STRETCH_WORDS // 2:
            around.setdefault(fold, []).append(text)
            del open_text[fold]
    return around


def taught_by(prompts: Prompts, seen: np.ndarray) -> np.ndarray:
    """The training stretches of the examples that `seen` (bool) names, the exam's left out."""
    may_teach = seen & np.array([e.group not in EXAM for e in prompts.examples])
    return np.flatnonzero(may_teach[prompts.owners])


def fit_attack(prompts: Prompts, seen: np.ndarray) -> np.ndarray:
    """The linear model of attacks, from the examples that `seen` names, the exam's left out."""
    chosen = [i for i in np.flatnonzero(seen) if prompts.examples[i].group not in EXAM]
    return fit_attacks(
        [prompts.grams[i] for i in chosen], [prompts.examples[i].label == "attack" for i in chosen]
    )


@dataclass(frozen=True, slots=True)
class Fitted:
    """What ships: the network and the linear model of attacks. `of_exam` is what both say of the
    exam, float [examples, OUTPUTS + 1], -inf in all other rows."""

    network: Tuned
    attack: np.ndarray
    of_exam: np.ndarray


def fit_all(prompts: Prompts, *, seed: int, report: Callable[[str], None]) -> Fitted:
    """Train on everything but the exam."""
    everything = np.ones(len(prompts.examples), dtype=bool)
    tuning = Tuning(prompts.lower, seed=seed)
    tuning.fit(prompts.rows, taught_by(prompts, everything), report)
    attack = fit_attack(prompts, everything)
    exam = np.array([e.group in EXAM for e in prompts.examples])
    return Fitted(tuning.tuned(), attack, _scored(prompts, tuning, attack, exam))


def fold_scores(
    prompts: Prompts, number: int, *, seed: int, report: Callable[[str], None]
) -> np.ndarray:
    """What weights that saw nothing of fold `number` say of its prompts; kept in a file.

    Returns:
        Float [examples, OUTPUTS + 1]: the outputs of each one's worst stretch, the highest attack
        logit of any, and the linear logit of an attack; -inf in the rows of other folds.
    """
    held = np.array([e.group in FOLDS[number] for e in prompts.examples])
    path = CACHE / f"fold-{number}-{_digest(prompts, held, seed)[:16]}.npy"
    if not path.exists():
        report(f"fold {number + 1} of {len(FOLDS)}: {int(held.sum())} prompts held out")
        tuning = Tuning(prompts.lower, seed=seed)
        tuning.fit(prompts.rows, taught_by(prompts, ~held), report)
        np.save(path, _scored(prompts, tuning, fit_attack(prompts, ~held), held))
    kept: np.ndarray = np.load(path)
    return kept


def _scored(prompts: Prompts, tuning: Tuning, attack: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    scores = np.full((len(wanted), OUTPUTS + 1), -np.inf)
    stretches = prompts.stretches_of(wanted)
    owners = prompts.owners[stretches]
    found = tuning.logits(stretches)
    harm = worst_of_each(found[:, HARM], owners, len(wanted))
    for row, owner in zip(found, owners, strict=True):
        if row[HARM] >= harm[owner]:
            scores[owner, :OUTPUTS] = row
    attacks = worst_of_each(found[:, ATTACK], owners, len(wanted))
    scores[wanted, ATTACK] = attacks[wanted]
    weights = attack.astype(np.int32)
    for index in np.flatnonzero(wanted):
        scores[index, _LINEAR] = attack_logit(weights[prompts.grams[index]].sum(axis=1))
    return scores


def _digest(prompts: Prompts, held: np.ndarray, seed: int) -> str:
    """Of all that the network learns from, and of the code that makes it learn."""
    digest = hashlib.sha256(str(seed).encode() + held.tobytes())
    for name in ("finetune", "heads", "minilm", "linear"):
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    for row, owner in zip(prompts.rows.pieces, prompts.owners, strict=True):
        example = prompts.examples[owner]
        digest.update(f"{example.group} {example.label} {row}\n".encode())
    return digest.hexdigest()


def attack_weight(scores: np.ndarray, ordinary: np.ndarray) -> float:
    """What the network's logit of an attack is stretched by before the linear model's is added:
    so that both vary alike over `ordinary` prompts (bool)."""
    return float(np.std(scores[ordinary, _LINEAR]) / np.std(scores[ordinary, ATTACK]))


def with_linear(scores: np.ndarray, weight: float) -> np.ndarray:
    """The logits of harm and of attack, [examples, 2]; see `attack_weight`."""
    return np.stack([scores[:, HARM], scores[:, _LINEAR] + weight * scores[:, ATTACK]], axis=1)
