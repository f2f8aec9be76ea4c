"""`python -m safety.train`: builds `safety/data/classifier.npz` and its card from the sources.

Needs the optional group `safety-train`. One thread and one seed: the same sources give the
same weights. Twenty minutes on one core, most of it the evaluation by held-out source.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from safety.answer_model import ANSWERS_FILE
from safety.classifier import MODEL_FILE
from safety.normalise import Vocabulary
from safety.training.answers import calibrate, fit, is_answer, out_of_fold_peaks, spoken_answers
from safety.training.artefact import answer_arrays, arrays_of, write
from safety.training.corpus import corpus
from safety.training.evaluation import FOLDS, calibration, corpus_digest, out_of_fold
from safety.training.network import train
from safety.training.packages import DATA_PACKAGES, MINILM
from safety.training.rows import CATEGORIES, RowMaker, mixtures, vocabulary_for, word_vectors
from safety.training.sources import Example

VERSION = "1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    started = time.monotonic()

    def report(line: str) -> None:
        print(f"[{time.monotonic() - started:6.0f} s] {line}", flush=True)  # noqa: T201

    examples = corpus()
    report(f"{len(examples)} distinct texts of {len({e.group for e in examples})} groups")
    logits = out_of_fold(examples, seed=arguments.seed, report=report)
    calibrated = calibration(examples, logits)
    vocabulary = vocabulary_for(examples)
    maker = RowMaker(vocabulary)
    rows = maker.rows_of([*examples, *mixtures(examples, seed=arguments.seed)])
    report(f"final network: {len(rows)} rows, {len(vocabulary)} words")
    network = train(rows, word_vectors(vocabulary), len(CATEGORIES), seed=arguments.seed)
    digests = write(
        {
            MODEL_FILE: arrays_of(network, vocabulary, calibrated),
            ANSWERS_FILE: answers(examples, maker.known, report),
        },
        card_of(examples, len(vocabulary), arguments.seed),
    )
    for name, digest in digests.items():
        report(f"written: {name}, SHA-256 {digest}")


def answers(
    examples: Sequence[Example], vocabulary: Vocabulary, report: Callable[[str], None]
) -> dict[str, np.ndarray]:
    """The arrays of the answer model: calibrated on held-out folds, then fitted to all."""
    chosen = [example for example in examples if is_answer(example)]
    spoken = spoken_answers(chosen, vocabulary)
    peaks = out_of_fold_peaks(chosen, spoken, FOLDS, report)
    weights, drift = fit(spoken, [example.label == "harmful" for example in chosen])
    return answer_arrays(weights, drift, calibrate(chosen, peaks))


def card_of(examples: Sequence[Example], words: int, seed: int) -> dict[str, Any]:
    """What the artefact was made of; docs/safety-model-card.md explains it to people."""
    counts = Counter((e.group, e.kind, e.label) for e in examples)
    return {
        "version": VERSION,
        "seed": seed,
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
