"""`python -m safety.train`: builds the classifiers in `safety/data` and their card.

Needs the optional group `safety-train`. One thread and one seed: the same sources give the same
weights, and `--check` says whether they are the ones that ship. A few minutes on one core, most
of it the encoder's reading of every prompt.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from safety.answer_model import ANSWERS_FILE
from safety.artefacts import card
from safety.classifier import ENCODER_FILE, MODEL_FILE, encoder_of
from safety.grams import text_rows
from safety.normalise import Vocabulary
from safety.training.answers import calibrate, is_answer, out_of_fold_peaks, spoken_answers
from safety.training.artefact import digests_of, packed, write
from safety.training.calibration import calibration
from safety.training.corpus import corpus, corpus_digest
from safety.training.example import Example
from safety.training.export import encoder_graph, word_pieces
from safety.training.folds import FOLDS, check_assigned
from safety.training.heads import CATEGORIES
from safety.training.held_out import keep
from safety.training.linear import fit_stretches
from safety.training.packages import DATA_PACKAGES, MINILM
from safety.training.prompts import (
    Prompts,
    Screen,
    fit_attack,
    fit_heads,
    out_of_fold,
    prepare,
    training_rows,
)
from safety.training.vocabulary import vocabulary_for

VERSION = "2"
SEED = 7

Report = Callable[[str], None]


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


def _compare(digests: dict[str, str], report: Report) -> bool:
    shipped = card()["files"]
    same = digests == shipped
    for name in sorted(set(digests) | set(shipped)):
        verdict = "the same" if digests.get(name) == shipped.get(name) else "NOT the same"
        report(f"{name}: {verdict}")
    report(
        "done: the shipped files come out" if same else "done: the shipped files do not come out"
    )
    return same


def build(report: Report) -> tuple[dict[Any, bytes], dict[str, Any]]:
    """The files as bytes, by path, and the card's content. Also keeps the held-out scores."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    examples = corpus()
    check_assigned(examples)
    groups = len({e.group for e in examples})
    report(f"{len(examples)} distinct texts of {groups} sources")
    words = vocabulary_for(examples)
    vocabulary = Vocabulary(words)
    graph = encoder_graph()
    pieces, arrays = word_pieces()
    arrays["pieces"] = np.array("\n".join(pieces))
    prompts, screen = prepare(examples, vocabulary, encoder_of(arrays, graph), report)
    logits, named = out_of_fold(prompts, seed=SEED, report=report)
    calibrated = calibration(prompts.examples, logits)
    answers, peaks = _answers(examples, vocabulary, report)
    keep(
        examples,
        logits=logits,
        named=named,
        calibration=calibrated,
        vectors=prompts.first_vectors,
        peaks=peaks,
        answer_calibration=answers["calibration"],
    )
    report("fitting to all sources")
    arrays |= _prompt_arrays(prompts, screen, calibrated)
    arrays["vocabulary"] = np.array("\n".join(words))
    arrays["categories"] = np.array("\n".join(CATEGORIES))
    files = {MODEL_FILE: packed(arrays), ENCODER_FILE: graph, ANSWERS_FILE: packed(answers)}
    return files, _card(examples, len(words))


def _prompt_arrays(
    prompts: Prompts, screen: Screen, calibrated: np.ndarray
) -> dict[str, np.ndarray]:
    everything = np.ones(len(prompts.examples), dtype=bool)
    heads = fit_heads(prompts, training_rows(prompts), everything, seed=SEED)
    return {
        "screen": screen.weights,
        "screen_drift": np.array(screen.drift),
        "attack": fit_attack(prompts, everything),
        "hidden": heads.hidden.astype(np.float16),
        "hidden_bias": heads.hidden_bias.astype(np.float32),
        "heads": heads.heads.astype(np.float16),
        "heads_bias": heads.heads_bias.astype(np.float32),
        "calibration": calibrated.astype(np.float64),
    }


def _answers(
    examples: Sequence[Example], vocabulary: Vocabulary, report: Report
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The arrays of the answer model, and what it says of answers of unseen sources."""
    chosen = [example for example in examples if is_answer(example)]
    spoken = spoken_answers(chosen, vocabulary)
    peaks = out_of_fold_peaks(chosen, spoken, FOLDS, report)
    harmful = [example.label == "harmful" for example in chosen]
    weights, drift = fit_stretches([text_rows(words) for words in spoken], harmful)
    arrays = {
        "weights": weights,
        "drift": np.array(drift),
        "calibration": np.array(calibrate(chosen, peaks), dtype=np.float64),
    }
    return arrays, peaks


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
