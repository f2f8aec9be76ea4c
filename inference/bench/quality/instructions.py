"""Does an answer have the form that the prompt asks for: each instruction with a check by program.

The kinds are those of IFEval (Zhou et al. 2023); prompts and checks are ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from inference.bench.quality.case import Case

Check = Callable[[str], bool]
_SUBJECTS = (
    "the sea",
    "how bread is made",
    "why we sleep",
    "a walk in a forest",
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+\S", re.MULTILINE)


def words(text: str) -> list[str]:
    return re.findall(r"[\w'-]+", text)


def sentences(text: str) -> list[str]:
    return [part for part in re.split(r"(?<=[.!?])\s+", text.strip()) if part]


def paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part.strip()]


def bullets(text: str) -> int:
    return len(_BULLET.findall(text))


def _is_json(text: str) -> bool:
    fenced = re.fullmatch(r"\s*```(?:json)?(.*)```\s*", text, re.DOTALL)
    try:
        return isinstance(json.loads(fenced.group(1) if fenced else text), dict)
    except ValueError:
        return False


_INSTRUCTIONS: tuple[tuple[str, Check], ...] = (
    ("Write exactly three bullet points about {}.", lambda t: bullets(t) == 3),
    ("Write about {} in exactly two sentences.", lambda t: len(sentences(t)) == 2),
    ("Write about {} in fewer than 30 words.", lambda t: 0 < len(words(t)) < 30),
    ("Write at least 80 words about {}.", lambda t: len(words(t)) >= 80),
    ("Write about {} in lower case letters only.", lambda t: bool(t) and t == t.lower()),
    ("Write one sentence about {} IN CAPITAL LETTERS ONLY.", lambda t: bool(t) and t == t.upper()),
    (
        "Write two paragraphs about {}, with an empty line between them.",
        lambda t: len(paragraphs(t)) == 2,
    ),
    ("Write one sentence about {} without any comma.", lambda t: bool(t) and "," not in t),
    (
        "Write about {} and end with the exact words: That is all.",
        lambda t: t.rstrip().endswith("That is all."),
    ),
    (
        "Begin your answer with the word Listen, then write about {}.",
        lambda t: t.lstrip('" *').startswith("Listen"),
    ),
    (
        'Write one sentence about {} and put all of it between double quotes, like "this".',
        lambda t: t.strip().startswith('"') and t.strip().endswith('"'),
    ),
    (
        "Write about {} and use the word lantern at least twice.",
        lambda t: len(re.findall(r"\blanterns?\b", t, re.IGNORECASE)) >= 2,
    ),
    (
        "Write three sentences about {} without using the word and.",
        lambda t: bool(t) and not re.search(r"\band\b", t, re.IGNORECASE),
    ),
    (
        "Give a title for a text about {} between double angular brackets, such as <<title>>.",
        lambda t: bool(re.search(r"<<[^<>\n]+>>", t)),
    ),
    (
        "Answer with a JSON object with the keys title and text, about {}, and nothing else.",
        _is_json,
    ),
)


def cases() -> list[Case]:
    """Every instruction about every subject."""
    return [
        Case(asked.format(subject), check)
        for asked, check in _INSTRUCTIONS
        for subject in _SUBJECTS
    ]
