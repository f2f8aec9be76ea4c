"""From labelled prompts to windows, and to what the classifier says of unseen sources.

Out of fold: each text is scored by weights that saw nothing of its source nor of the sources in
its fold. Two things are made from all texts, without a label's help or hardly: the words that
folding knows, and which windows of a long text the encoder reads (by the word screen).
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from safety.read.normalise import Vocabulary
from safety.score.classifier import SCREENED_OUT_LOGIT, SLOW_CPU_PENALTY, attack_logit
from safety.score.encoder import WordPieces, mean_embedding
from safety.score.features import NormalizedText, normalized
from safety.score.grams import text_rows
from safety.score.screens import (
    WINDOW_WORDS,
    CandidateWindow,
    candidates,
    length_penalty,
    word_screen,
    worth_reading,
)
from safety.training.embedding_screen import EmbeddingScreen, fit_embedding_screen
from safety.training.example import Example
from safety.training.finetune import LowerLayers, Tuned, Tuning
from safety.training.folds import EXAM, FOLDS, fold_of, is_ordinary
from safety.training.heads import ATTACK, HARM, OUTPUTS, Rows, rows_of, worst_of_each
from safety.training.linear import fit_attacks, fit_windows
from safety.training.packages import CACHE

MAX_CHARACTERS = 4_000
WINDOWS_TAUGHT = {"harmful": 1, "attack": 2}
"""Of a longer text only the worst windows carry its label."""

LONG_WORDS = 120
READ_FURTHER = 0.02
"""Share of the ordinary texts of LONG_WORDS and more of which a further window is read, and
of those of which a sentence is."""

_LINEAR = OUTPUTS
"""The column after the network's outputs: the linear logit of an attack."""


@dataclass(frozen=True, slots=True)
class WordScreen:
    """The word screen; see `safety.score.screens` and `linear.fit_windows`.

    Attributes:
        levels: from which further windows, and sentences, are read.
    """

    weights: np.ndarray
    drift: int
    levels: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts as numbers. `owners[i]` is the example that window `i` was cut from; those that are
    `read` are what the product would read, those that `teaches` are for training."""

    examples: list[Example]
    grams: list[np.ndarray]
    owners: np.ndarray
    rows: Rows
    read: np.ndarray
    teaches: np.ndarray
    amid: np.ndarray
    """Which windows have other words around them, bool."""
    lower: LowerLayers
    mean_embeddings: np.ndarray
    """What the embedding screen reads of each window, float32 [windows, SIZE]."""

    def windows_of(self, wanted: np.ndarray) -> np.ndarray:
        """The windows that the product would read of the examples in `wanted` (bool)."""
        return np.flatnonzero(wanted[self.owners] & self.read)


def prepare(
    examples: Sequence[Example],
    vocabulary: Vocabulary,
    pieces: WordPieces,
    report: Callable[[str], None],
) -> tuple[Prompts, WordScreen]:
    """Fold, screen and cut the prompts among `examples`, and pass them through the lower layers."""
    prompts = [e for e in examples if e.kind == "prompt"]
    texts = [normalized(e.text[:MAX_CHARACTERS], vocabulary) for e in prompts]
    grams = [text_rows(text.words) for text in texts]
    screen, named = _word_screened(prompts, texts, grams)
    windows = [*_cut(prompts, texts, named, screen.levels), *_surrounded(prompts, texts)]
    report(f"{len(prompts)} prompts, {len(windows)} windows")
    owners = [window.owner for window in windows]
    cut = [pieces.rows(window.words) for window in windows]
    lower = LowerLayers(pieces, cut)
    report("passed through the lower layers")
    # What is bad but illegible would teach that all text in those letters is.
    misleading = _is_bad(prompts)[owners] & np.array([pieces.illegible(row) for row in cut])
    found = Prompts(
        examples=prompts,
        grams=grams,
        owners=np.array(owners),
        rows=rows_of(prompts, owners, cut),
        read=np.array([window.read for window in windows]),
        teaches=np.array([window.taught for window in windows]) & ~misleading,
        amid=np.array([window.amid for window in windows]),
        lower=lower,
        mean_embeddings=np.stack([mean_embedding(pieces.vectors(row)) for row in cut]),
    )
    return found, screen


def _word_screened(
    prompts: Sequence[Example], texts: Sequence[NormalizedText], grams: Sequence[np.ndarray]
) -> tuple[WordScreen, list[list[CandidateWindow]]]:
    """The word screen, from all prompts but the exam's, and what it names of each prompt."""
    seen = [i for i, e in enumerate(prompts) if e.group not in EXAM]
    bad = _is_bad(prompts)
    weights, drift = fit_windows([grams[i] for i in seen], [bool(bad[i]) for i in seen])
    wide = weights.astype(np.int32)
    named = [
        candidates(text, word_screen(wide, drift, rows))
        for text, rows in zip(texts, grams, strict=True)
    ]
    return WordScreen(weights, drift, levels_for(prompts, texts, named)), named


class TaughtWindow(NamedTuple):
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
    texts: Sequence[NormalizedText],
    named: Sequence[Sequence[CandidateWindow]],
    levels: tuple[float, float],
) -> Iterator[TaughtWindow]:
    """What the word screen has `named` of each text."""
    for index, found in enumerate(named):
        most = WINDOWS_TAUGHT.get(prompts[index].label, len(found))
        amid = len(texts[index].words) > WINDOW_WORDS
        for place, read in enumerate(worth_reading(found, levels)):
            yield TaughtWindow(index, found[place].words, place < most, read, amid)


def levels_for(
    prompts: Sequence[Example],
    texts: Sequence[NormalizedText],
    named: Sequence[Sequence[CandidateWindow]],
) -> tuple[float, float]:
    """Of further windows and of sentences: what the worst ones of READ_FURTHER of the long
    ordinary texts reach."""
    worst: list[tuple[int, int]] = []
    for example, text, found in zip(prompts, texts, named, strict=True):
        if is_ordinary(example) and len(text.words) >= LONG_WORDS:
            sentences = [candidate.value for candidate in found if candidate.is_sentence]
            worst.append((found[0].value, max(sentences, default=0)))
    window, sentence = np.quantile(worst, 1.0 - READ_FURTHER, axis=0)
    return float(window), float(sentence)


def _surrounded(
    prompts: Sequence[Example], texts: Sequence[NormalizedText]
) -> Iterator[TaughtWindow]:
    """Short requests amid words of an ordinary one, as the window of a long text shows them.

    Every third harmful prompt and every sixth other one, so that a request is known by its
    own words, and what stands around it proves nothing. The words come from prompts of the
    same fold: nothing of a held-out source gets into training.
    """
    generator = np.random.default_rng(0)
    around = _long_ordinary(prompts, texts)
    for index, example in enumerate(prompts):
        words = texts[index].words
        room = WINDOW_WORDS - len(words)
        wanted = index % (3 if example.label == "harmful" else 6) == 0
        others = around.get(fold_of(example.group))
        unfit = example.label == "attack" or example.group in EXAM or room < WINDOW_WORDS // 3
        if unfit or not wanted or not others:
            continue
        other = others[int(generator.integers(len(others)))]
        before = int(generator.integers(room + 1))
        ahead = other[:before]
        around_it = [*ahead, *words, *other[len(ahead) : len(ahead) + room - before]]
        yield TaughtWindow(index, around_it, taught=True, read=False, amid=True)


def _long_ordinary(
    prompts: Sequence[Example], texts: Sequence[NormalizedText]
) -> dict[int, list[list[str]]]:
    """By fold, ordinary words enough to stand around a request; short texts are joined."""
    around: dict[int, list[list[str]]] = {}
    open_text: dict[int, list[str]] = {}
    for example, text in zip(prompts, texts, strict=True):
        if example.label not in {"benign", "borderline"} or example.group in EXAM:
            continue
        fold = fold_of(example.group)
        joined = open_text.setdefault(fold, [])
        joined.extend(text.words)
        if len(joined) >= WINDOW_WORDS // 2:
            around.setdefault(fold, []).append(joined)
            del open_text[fold]
    return around


def taught_by(prompts: Prompts, seen: np.ndarray) -> np.ndarray:
    """The training windows of the examples that `seen` (bool) names, the exam's left out."""
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


def embedding_screen_for(prompts: Prompts, seen: np.ndarray) -> EmbeddingScreen:
    """The embedding screen, from the examples that `seen` names, the exam's left out."""
    rows = taught_by(prompts, seen)
    of_row = [prompts.examples[owner] for owner in prompts.owners[rows]]
    ordinary = np.array([is_ordinary(e) for e in of_row])
    return fit_embedding_screen(
        prompts.mean_embeddings[rows], _is_bad(of_row), ordinary, prompts.amid[rows]
    )


@dataclass(frozen=True, slots=True)
class Fitted:
    """What ships: the network, the embedding screen and the linear model of attacks. `of_exam` is
    what they say of the exam, float [2, examples, OUTPUTS + 1], for each of
    `classifier.SLOW_CPU_PENALTY`; -inf in the rows of all other examples."""

    network: Tuned
    embedding_screen: EmbeddingScreen
    attack: np.ndarray
    of_exam: np.ndarray


def fit_all(prompts: Prompts, *, seed: int, report: Callable[[str], None]) -> Fitted:
    """Train on everything but the exam."""
    everything = np.ones(len(prompts.examples), dtype=bool)
    tuning = Tuning(prompts.lower, seed=seed)
    tuning.fit(prompts.rows, taught_by(prompts, everything), report)
    screen, attack = embedding_screen_for(prompts, everything), fit_attack(prompts, everything)
    exam = np.array([e.group in EXAM for e in prompts.examples])
    windows = np.flatnonzero(exam[prompts.owners])
    found = _spread(prompts, windows, tuning.logits(windows))
    return Fitted(tuning.tuned(), screen, attack, _scored(prompts, found, screen, attack, exam))


def fold_scores(
    prompts: Prompts, number: int, *, seed: int, report: Callable[[str], None]
) -> np.ndarray:
    """What weights that saw nothing of fold `number` say of its prompts; the network's part of it
    is kept in a file.

    Returns:
        Float [2, examples, OUTPUTS + 1], for each of `classifier.SLOW_CPU_PENALTY`: the outputs of
        each one's worst window, the highest attack logit of any, and the linear logit of an attack;
        -inf in the rows of other folds.
    """
    held = np.array([e.group in FOLDS[number] for e in prompts.examples])
    windows = np.flatnonzero(held[prompts.owners])
    path = CACHE / f"fold-{number}-{_digest(prompts, held, seed)[:16]}.npz"
    if not path.exists():
        report(f"fold {number + 1} of {len(FOLDS)}: {int(held.sum())} prompts held out")
        tuning = Tuning(prompts.lower, seed=seed)
        tuning.fit(prompts.rows, taught_by(prompts, ~held), report)
        np.savez(path, found=tuning.logits(windows))
    with np.load(path) as kept:
        found = _spread(prompts, windows, kept["found"])
    return _scored(
        prompts, found, embedding_screen_for(prompts, ~held), fit_attack(prompts, ~held), held
    )


def _spread(prompts: Prompts, windows: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """`logits` of the `windows` in the rows of all, the others not known."""
    found = np.full((len(prompts.owners), OUTPUTS), np.nan, dtype=np.float32)
    found[windows] = logits
    return found


def _scored(
    prompts: Prompts,
    found: np.ndarray,
    screen: EmbeddingScreen,
    attack: np.ndarray,
    wanted: np.ndarray,
) -> np.ndarray:
    """What the product would make of the examples `wanted` (bool), for each of `SLOW_CPU_PENALTY`;
    -inf in other rows.

    Args:
        found: the network's outputs for each window.
    """
    scores = np.stack(
        [_read_by(prompts, found, screen, wanted, penalty) for penalty in SLOW_CPU_PENALTY]
    )
    weights = attack.astype(np.int32)
    for index in np.flatnonzero(wanted):
        scores[:, index, _LINEAR] = attack_logit(weights, prompts.grams[index])
    return scores


def _read_by(
    prompts: Prompts,
    found: np.ndarray,
    screen: EmbeddingScreen,
    wanted: np.ndarray,
    slow_cpu_penalty: float,
) -> np.ndarray:
    """`_scored` for one of `SLOW_CPU_PENALTY`, without the linear logit of an attack."""
    scores = np.full((len(wanted), OUTPUTS + 1), -np.inf)
    windows = prompts.windows_of(wanted)
    owners = prompts.owners[windows]
    less = np.array([length_penalty(len(grams)) for grams in prompts.grams])
    passed = screen.passes(prompts.mean_embeddings[windows], slow_cpu_penalty * less[owners])
    read = np.where(passed[:, None], found[windows], SCREENED_OUT_LOGIT)
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
