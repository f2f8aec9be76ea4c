"""Ordinary answers of the product's default model: what must not be halted.

`data/answers/ordinary.jsonl` holds them, one `{"source", "prompt", "answer"}` a line. To make the
file anew: `safety.training.ask_ordinary`.

Answers to our own prompts teach, and calibrate by halves that have not seen each other; answers
to the prompts of packages are for the exam only.
"""

import json
from collections.abc import Iterator
from zlib import crc32

from safety.training.example import OWN_DATA, Example

ANSWERS_FILE = OWN_DATA / "answers" / "ordinary.jsonl"


def ordinary_answers() -> Iterator[Example]:
    for line in ANSWERS_FILE.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["source"].startswith("own_"):
            half = "even" if crc32(row["prompt"].encode()) % 2 == 0 else "odd"
            group = f"ordinary_answers_{half}"
        else:
            group = "ordinary_answers_exam"
        yield Example(row["answer"], "benign", group, "output", prompt=row["prompt"])
