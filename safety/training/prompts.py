"""From labelled prompts to stretches, and to what the classifier says of unseen sources.

Out of fold: each text is scored by weights that saw nothing of its source nor of the sources in
its fold. Two things are made from all texts, without a label's help or hardly: the words that
folding knows, and which stretches of a long text the encoder reads (by the shipped screen).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from safety.read.normalise import Vocabulary
from safety.score.classifier import (
    SPARING,
    STRETCH_WORDS,
    UNSUSPECTED,
    Suspect,
    attack_logit,
    crowding,
    screened,
    suspects,
    worth_reading,
)
from safety.score.encoder import Pieces, gist
from safety.score.features import Spoken, spoken
from safety.score.grams import text_rows
from safety.training.example import Example
from safety.training.finetune import LowerLayers, Tuned, Tuning
from safety.training.folds import EXAM, FOLDS, fold_of, is_ordinary
from safety.training.gate import Gate, fit_gate
from safety.training.heads import ATTACK, HARM, OUTPUTS, Rows, rows_of, worst_of_each
from safety.training.linear import fit_attacks, fit_stretches
from safety.training.packages import CACHE

MAX_CHARACTERS = 4_000
STRETCHES_TAUGHT = {"harmful": 1, "attack": 2}
"""Of a longer text only the worst stretches carry its label."""

LONG_WORDS = 120
LOOKED_AT_TWICE = 0.02
"""Share of the ordinary texts of LONG_WORDS and more in which the screen suspects a further
stretch enough, and of those in which it suspects a sentence."""

_LINEAR = OUTPUTS
"""The column after the network's outputs: the linear logit of an attack."""


@dataclass(frozen=True, slots=True)
class Screen:
    """The linear layer that picks stretches; see `linear.fit_stretches`.

    Attributes:
        levels: from which further stretches, and sentences, are read.
    """

    weights: np.ndarray
    drift: int
    levels: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts as numbers. `owners[i]` is the example that stretch `i` was cut from; those that are
    `read` are what the product would read, those that `teaches` are for training."""

    examples: list[Example]
    grams: list[np.ndarray]
    owners: np.ndarray
    rows: Rows
    read: np.ndarray
    teaches: np.ndarray
    amid: np.ndarray
    """Which stretches have other words around them, bool."""
    lower: LowerLayers
    gists: np.ndarray
    """What the gate reads of each stretch, float32 [stretches, SIZE]; see `encoder.gist`."""

    def stretches_of(self, wanted: np.ndarray) -> np.ndarray:
        """The stretches that the product would read of the examples in `wanted` (bool)."""
        return np.flatnonzero(wanted[self.owners] & self.read)


def prepare(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    pieces: Pieces,
    report: Callable[[str], None],
) -> tuple[Prompts, Screen]:
    """Fold, screen and cut the prompts among `examples`, and pass them through the lower layers."""
    prompts = [e for e in examples if e.kind == "prompt"]
    texts = [spoken(e.text[:MAX_CHARACTERS], vocabulary) for e in prompts]
    grams = [text_rows(said.words) for said in texts]
    bad = _is_bad(prompts)
    seen = [i for i, e in enumerate(prompts) if e.group not in EXAM]
    weights, drift = fit_stretches([grams[i] for i in seen], [bool(bad[i]) for i in seen])
    wide = weights.astype(np.int32)
    named = [
        suspects(said, screened(wide, drift, rows)) for said, rows in zip(texts, grams, strict=True)
    ]
    screen = Screen(weights, drift, levels_for(prompts, texts, named))
    stretches = [*_cut(prompts, texts, named, screen.levels), *_surrounded(prompts, texts)]
    report(f"{len(prompts)} prompts, {len(stretches)} stretches")
    owners = [stretch.owner for stretch in stretches]
    cut = [pieces.rows(stretch.words) for stretch in stretches]
    lower = LowerLayers(pieces, cut)
    report("passed through the lower layers")
    # What is bad but illegible would teach that all text in those letters is.
    misleading = bad[owners] & np.array([pieces.illegible(row) for row in cut])
    found = Prompts(
        examples=prompts,
        grams=grams,
        owners=np.array(owners),
        rows=rows_of(prompts, owners, cut),
        read=np.array([stretch.read for stretch in stretches]),
        teaches=np.array([stretch.taught for stretch in stretches]) & ~misleading,
        amid=np.array([stretch.amid for stretch in stretches]),
        lower=lower,
        gists=np.stack([gist(pieces.vectors(row)) for row in cut]),
    )
    return found, screen


class Stretch(NamedTuple):
    """Words of the example `owner`.

    Attributes:
        taught: whether they bear the example's label.
        read: whether the product would read them.
        amid: whether there are other words around them.
    """

    owner: int
    words: Sequence[str]
    taught: bool
    read: bool
    amid: bool


def _cut(
    prompts: Sequence[Example],
    texts: Sequence[Spoken],
    named: Sequence[Sequence[Suspect]],
    levels: tuple[float, float],
) -> Iterator[Stretch]:
    """What the first screen has `named` of each text."""
    for index, found in enumerate(named):
        most = STRETCHES_TAUGHT.get(prompts[index].label, len(found))
        amid = len(texts[index].words) > STRETCH_WORDS
        for place, read in enumerate(worth_reading(found, levels)):
            yield Stretch(index, found[place].words, place < most, read, amid)


def levels_for(
    prompts: Sequence[Example], texts: Sequence[Spoken], named: Sequence[Sequence[Suspect]]
) -> tuple[float, float]:
    """Of further stretches and of sentences: what the worst ones of LOOKED_AT_TWICE of the long
    ordinary texts reach."""
    worst: list[tuple[int, int]] = []
    for example, said, found in zip(prompts, texts, named, strict=True):
        if is_ordinary(example) and len(said.words) >= LONG_WORDS:
            sentences = [suspect.value for suspect in found if suspect.is_sentence]
            worst.append((found[0].value, max(sentences, default=0)))
    stretch, sentence = np.quantile(worst, 1.0 - LOOKED_AT_TWICE, axis=0)
    return float(stretch), float(sentence)


def _surrounded(prompts: Sequence[Example], texts: Sequence[Spoken]) -> Iterator[Stretch]:
    """Short requests amid words of an ordinary one, as the window of a long text shows them.

    Every third harmful prompt and every sixth other one, so that a request is known by its
    own words, and what stands around it proves nothing. The words come from prompts of the
    same fold: nothing of a held-out source gets into training.
    """
    generator = np.random.default_rng(0)
    around = _long_ordinary(prompts, texts)
    for index, example in enumerate(prompts):
        words = texts[index].words
        room = STRETCH_WORDS - len(words)
        wanted = index % (3 if example.label == "harmful" else 6) == 0
        others = around.get(fold_of(example.group))
        unfit = example.label == "attack" or example.group in EXAM or room < STRETCH_WORDS // 3
        if unfit or not wanted or not others:
            continue
        other = others[int(generator.integers(len(others)))]
        before = int(generator.integers(room + 1))
        ahead = other[:before]
        around_it = [*ahead, *words, *other[len(ahead) : len(ahead) + room - before]]
        yield Stretch(index, around_it, taught=True, read=False, amid=True)


def _long_ordinary(
    prompts: Sequence[Example], texts: Sequence[Spoken]
) -> dict[int, list[list[str]]]:
    """By fold, ordinary words enough to stand around a request; short texts are joined."""
    around: dict[int, list[list[str]]] = {}
    open_text: dict[int, list[str]] = {}
    for example, said in zip(prompts, texts, strict=True):
        if example.label not in {"benign", "borderline"} or example.group in EXAM:
            continue
        fold = fold_of(example.group)
        text = open_text.setdefault(fold, [])
        text.extend(said.words)
        if len(text) >= STRETCH_WORDS // 2:
            around.setdefault(fold, []).append(text)
            del open_text[fold]
    return around


def taught_by(prompts: Prompts, seen: np.ndarray) -> np.ndarray:
    """The training stretches of the examples that `seen` (bool) names, the exam's left out."""
    may_teach = seen & np.array([e.group not in EXAM for e in prompts.examples])
    return np.flatnonzero(may_teach[prompts.owners] & prompts.teaches)


def _is_bad(examples: Sequence[Example]) -> np.ndarray:
    return np.array([e.label in {"harmful", "attack"} for e in examples])


def fit_attack(prompts: Prompts, seen: np.ndarray) -> np.ndarray:
    """The linear model of attacks, from the examples that `seen` names, the exam's left out."""
    chosen = [i for i in np.flatnonzero(seen) if prompts.examples[i].group not in EXAM]
    return fit_attacks(
        [prompts.grams[i] for i in chosen], [prompts.examples[i].label == "attack" for i in chosen]
    )


def gate_for(prompts: Prompts, seen: np.ndarray) -> Gate:
    """The second screen, from the examples that `seen` names, the exam's left out."""
    rows = taught_by(prompts, seen)
    of_row = [prompts.examples[owner] for owner in prompts.owners[rows]]
    ordinary = np.array([is_ordinary(e) for e in of_row])
    return fit_gate(prompts.gists[rows], _is_bad(of_row), ordinary, prompts.amid[rows])


@dataclass(frozen=True, slots=True)
class Fitted:
    """What ships: the network, the second screen and the linear model of attacks. `of_exam` is
    what they say of the exam, float [2, examples, OUTPUTS + 1], for each of
    `classifier.SPARING`; -inf in the rows of all other examples."""

    network: Tuned
    gate: Gate
    attack: np.ndarray
    of_exam: np.ndarray


def fit_all(prompts: Prompts, *, seed: int, report: Callable[[str], None]) -> Fitted:
    """Train on everything but the exam."""
    everything = np.ones(len(prompts.examples), dtype=bool)
    tuning = Tuning(prompts.lower, seed=seed)
    tuning.fit(prompts.rows, taught_by(prompts, everything), report)
    gate, attack = gate_for(prompts, everything), fit_attack(prompts, everything)
    exam = np.array([e.group in EXAM for e in prompts.examples])
    stretches = np.flatnonzero(exam[prompts.owners])
    found = _spread(prompts, stretches, tuning.logits(stretches))
    return Fitted(tuning.tuned(), gate, attack, _scored(prompts, found, gate, attack, exam))


def fold_scores(
    prompts: Prompts, number: int, *, seed: int, report: Callable[[str], None]
) -> np.ndarray:
    """What weights that saw nothing of fold `number` say of its prompts; the network's part of it
    is kept in a file.

    Returns:
        Float [2, examples, OUTPUTS + 1], for each of `classifier.SPARING`: the outputs of each
        one's worst stretch, the highest attack logit of any, and the linear logit of an attack;
        -inf in the rows of other folds.
    """
    held = np.array([e.group in FOLDS[number] for e in prompts.examples])
    stretches = np.flatnonzero(held[prompts.owners])
    path = CACHE / f"fold-{number}-{_digest(prompts, held, seed)[:16]}.npz"
    if not path.exists():
        report(f"fold {number + 1} of {len(FOLDS)}: {int(held.sum())} prompts held out")
        tuning = Tuning(prompts.lower, seed=seed)
        tuning.fit(prompts.rows, taught_by(prompts, ~held), report)
        np.savez(path, found=tuning.logits(stretches))
    with np.load(path) as kept:
        found = _spread(prompts, stretches, kept["found"])
    return _scored(prompts, found, gate_for(prompts, ~held), fit_attack(prompts, ~held), held)


def _spread(prompts: Prompts, stretches: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """`logits` of the `stretches` in the rows of all, the others not known."""
    found = np.full((len(prompts.owners), OUTPUTS), np.nan, dtype=np.float32)
    found[stretches] = logits
    return found


def _scored(
    prompts: Prompts, found: np.ndarray, gate: Gate, attack: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """What the product would make of the examples `wanted` (bool), for each of `SPARING`; -inf in
    other rows.

    Args:
        found: the network's outputs for each stretch.
    """
    scores = np.stack([_read_by(prompts, found, gate, wanted, sparing) for sparing in SPARING])
    weights = attack.astype(np.int32)
    for index in np.flatnonzero(wanted):
        scores[:, index, _LINEAR] = attack_logit(weights, prompts.grams[index])
    return scores


def _read_by(
    prompts: Prompts, found: np.ndarray, gate: Gate, wanted: np.ndarray, sparing: float
) -> np.ndarray:
    """`_scored` for one of `SPARING`, without the linear logit of an attack."""
    scores = np.full((len(wanted), OUTPUTS + 1), -np.inf)
    stretches = prompts.stretches_of(wanted)
    owners = prompts.owners[stretches]
    less = np.array([crowding(len(grams)) for grams in prompts.grams])
    passed = gate.passes(prompts.gists[stretches], sparing * less[owners])
    read = np.where(passed[:, None], found[stretches], UNSUSPECTED)
    harm = worst_of_each(read[:, HARM], owners, len(wanted))
    for row, owner in zip(read, owners, strict=True):
        if row[HARM] >= harm[owner]:
            scores[owner, :OUTPUTS] = row
    scores[:, HARM] -= less
    attacks = worst_of_each(read[:, ATTACK], owners, len(wanted))
    scores[wanted, ATTACK] = attacks[wanted]
    return scores


def _digest(prompts: Prompts, held: np.ndarray, seed: int) -> str:
    """Of all that the network learns from, and of the code that makes it learn."""
    digest = hashlib.sha256(str(seed).encode() + held.tobytes() + prompts.teaches.tobytes())
    for name in ("finetune", "heads", "minilm"):
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
