"""`python -m safety.training.train`: builds the classifiers in `safety/data` and their card.

Needs the optional group `safety-train`. One thread and one seed: the same sources give the same
weights, and `--check` says whether they are the ones that ship. Two hours on one idle
core, most of it the network's training: without each fold of sources, to calibrate, then with all.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from threadpoolctl import threadpool_limits

from safety.read.normalise import Vocabulary
from safety.score.answer_model import ANSWERS_FILE
from safety.score.artefacts import card
from safety.score.classifier import ENCODER_FILE, MODEL_FILE, word_pieces_in
from safety.score.encoder import Encoder
from safety.training.answers import fit_answers
from safety.training.artefact import digests_of, packed, write
from safety.training.calibration import calibration
from safety.training.corpus import corpus, corpus_digest
from safety.training.example import Example
from safety.training.export import encoder_graph
from safety.training.folds import FOLDS, check_assigned, is_ordinary
from safety.training.heads import CATEGORIES
from safety.training.held_out import keep
from safety.training.minilm import piece_table
from safety.training.packages import DATA_PACKAGES, MINILM
from safety.training.prompts import (
    Fitted,
    attack_weight,
    fit_all,
    fold_scores,
    prepare,
    with_linear,
)
from safety.training.vocabulary import vocabulary_for

VERSION = "9"
SEED = 7

PrintLine = Callable[[str], None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="write nothing; say whether the shipped files come out"
    )
    options = parser.parse_args()
    started = time.monotonic()

    def report(line: str) -> None:
        sys.stdout.write(f"[{time.monotonic() - started:5.0f} s] {line}\n")
        sys.stdout.flush()

    files, content = build(report)
    digests = digests_of(files)
    for path, data in files.items():
        report(f"{path.name}: {len(data) / 1e6:.1f} MB, SHA-256 {digests[path.name]}")
    if options.check:
        sys.exit(0 if _compare(digests, report) else 1)
    write(files, content)
    report(f"done: written to {MODEL_FILE.parent}")


def _compare(digests: dict[str, str], report: PrintLine) -> bool:
    shipped = {name: digest for name, digest in card()["files"].items() if name in digests}
    same = digests == shipped
    for name in sorted(set(digests) | set(shipped)):
        outcome = "the same" if digests.get(name) == shipped.get(name) else "NOT the same"
        report(f"{name}: {outcome}")
    report(
        "done: the shipped files come out" if same else "done: the shipped files do not come out"
    )
    return same


class Prepared:
    """The corpus as the trainings need it."""

    def __init__(self, report: PrintLine) -> None:
        torch.set_num_threads(1)
        threadpool_limits(1)  # liblinear's sums in other parts give other last digits
        torch.use_deterministic_algorithms(True)
        self.examples = corpus()
        check_assigned(self.examples)
        groups = len({e.group for e in self.examples})
        report(f"{len(self.examples)} distinct texts of {groups} sources")
        self.words = vocabulary_for(self.examples)
        self.vocabulary = Vocabulary(self.words)
        pieces, self.arrays = piece_table()
        self.arrays["pieces"] = np.array("\n".join(pieces))
        self.prompts, self.screen = prepare(
            self.examples, self.vocabulary, word_pieces_in(self.arrays), report
        )

    def unseen(self, report: PrintLine) -> np.ndarray:
        """`prompts.fold_scores` of all folds: float [2, examples, OUTPUTS + 1]."""
        of_fold = [
            fold_scores(self.prompts, number, seed=SEED, report=report)
            for number in range(len(FOLDS))
        ]
        return np.maximum.reduce(of_fold)


def build(report: PrintLine) -> tuple[dict[Path, bytes], dict[str, Any]]:
    """The files as bytes, by path, and the card's content."""
    ready = Prepared(report)
    unseen = ready.unseen(report)
    report("fitting to all sources")
    fitted = fit_all(ready.prompts, seed=SEED, report=report)
    return assembled(ready, unseen, fitted, report)


def assembled(
    ready: Prepared, unseen: np.ndarray, fitted: Fitted, report: PrintLine
) -> tuple[dict[Path, bytes], dict[str, Any]]:
    """What `build` returns, from trained networks. Also keeps what they say of the exam.

    Args:
        unseen: as `Prepared.unseen` gives it.
    """
    examples = ready.prompts.examples
    ordinary = np.array([is_ordinary(e) for e in examples]) & np.isfinite(unseen[0][:, 0])
    weights = np.array([attack_weight(scores, ordinary) for scores in unseen])
    calibrated = np.stack(
        [
            calibration(with_linear(scores, weight)[ordinary])
            for scores, weight in zip(unseen, weights, strict=True)
        ]
    )
    graph = encoder_graph(fitted.network.encoder)
    encoder = Encoder(word_pieces_in(ready.arrays), graph)
    answers = fit_answers(ready.examples, ready.vocabulary, encoder, report)
    keep(
        ready.examples,
        of_exam=fitted.of_exam,
        calibration=calibrated,
        attack_weight=weights,
        answers=answers.logits,
        answer_calibration=answers.arrays["calibration"],
    )
    heads = fitted.network.heads
    arrays = ready.arrays | {
        "screen": ready.screen.weights,
        "screen_drift": np.array(ready.screen.drift),
        "screen_levels": np.array(ready.screen.levels),
        "gate": fitted.embedding_screen.weights,
        "gate_from": np.array(fitted.embedding_screen.at),
        "attack": fitted.attack,
        "attack_weight": weights,
        "hidden": heads.hidden.astype(np.float16),
        "hidden_bias": heads.hidden_bias.astype(np.float32),
        "heads": heads.heads.astype(np.float16),
        "heads_bias": heads.heads_bias.astype(np.float32),
        "calibration": calibrated.astype(np.float64),
        "vocabulary": np.array("\n".join(ready.words)),
        "categories": np.array("\n".join(CATEGORIES)),
    }
    files = {
        MODEL_FILE: packed(arrays),
        ENCODER_FILE: graph,
        ANSWERS_FILE: packed(answers.arrays),
    }
    return files, _card(ready.examples, len(ready.words))


def _card(examples: Sequence[Example], words: int) -> dict[str, Any]:
    """What the files were made of; docs/safety-model-card.md explains it to people."""
    counts = Counter((e.group, e.kind, e.label) for e in examples)
    return {
        "version": VERSION,
        "seed": SEED,
        "words": words,
        "corpus_sha256": corpus_digest(examples),
        "data": [
            {"group": group, "kind": kind, "label": label, "texts": count}
            for (group, kind, label), count in sorted(counts.items())
        ],
        "packages": [
            {"name": p.name, "version": p.version, "sha256": p.sha256, "licence": p.licence}
            for p in (*DATA_PACKAGES, MINILM)
        ],
    }


if __name__ == "__main__":
    main()
