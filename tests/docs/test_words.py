"""One name for one thing, and the field's: words of our own come back in no name.

Names are identifiers, files, log events, metrics, error codes and settings: what is typed, searched
for and alerted on. Prose is free. A word that a library or a format brings is allowed where it is
used, by a line of `_ALLOWED` that says so.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from typing import NamedTuple

import pytest

from infra.launcher.procfile import ROOT
from tests.docs.repository import PACKAGES, files

_THIS = "tests/docs/test_words.py"

# What is said instead of a word (DESIGN of the names: one for one thing).
_SAY = {
    "arrival": "a pending request; `arrived_at` for its time",
    "stranger": "other user, other organization, unknown key",
    "takeover": "failover, claim",
    "abandonment": "orphaned, disconnect grace",
    "abandoned": "orphaned",
    "watched": "has_readers",
    "patient": "disconnect grace",
    "patience": "timeout",
    "hindsight": "review pass",
    "doubtful": "uncertain",
    "suspicion": "cheap score",
    "stretch": "window",
    "tally": "token accounting",
    "piece": "chunk",
    "picture": "image",
    "hopeless": "MAX_FAILED_STEPS, disabled",
    "lane": "partition",
    "told": "delivered, notified, answered",
    "nobody": "anonymous, nil UUID",
    "somebody": "user",
    "someone": "user",
    "whoever": "user",
    "mayhem": "faults",
}
# The same for one folder: elsewhere the word is the field's own.
_SAY_IN = {
    "backend/": {
        "opening": "admission, begin",
        "ending": "finish",
        "production": "run",
        "runner": "run, tasks",
        "emitter": "append",
        "live": "active",
    },
    "inference/": {"draw": "sample", "guess": "draft token", "pace": "prefill budget"},
}
# (word, files): why the word is right there.
_ALLOWED = {
    ("piece", "inference/text/*"): "an entry of a vocabulary, in SentencePiece's words",
    ("piece", "tests/inference/test_sentencepiece.py"): "the same",
    ("piece", "safety/score/*"): "an entry of a vocabulary, in WordPiece's words",
    ("piece", "safety/training/*"): "the same",
    ("doubtful", "safety/stream/watch.py"): "a signal's name in stored decisions, which stays",
    ("doubtful", "tests/safety/test_uncertain_prompt.py"): "the same",
    ("watched", "backend/accounts/access.py"): "accesses that a process checks, not readers",
    ("watched", "tests/api/test_access_ends.py"): "the same",
}

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# Log events, metrics, error codes, settings: one word of lower or upper case with joints.
_NAME_IN_QUOTES = re.compile(r"[a-z]+(?:[._:-][a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+")
_UNBOUNDED = re.compile(r"_?(?:MOST|LONGEST|LARGEST)_")
# A test's name says what happens to which subject: it begins with neither an article nor a riddle.
_RIDDLE = re.compile(
    r"test_(?:a|an|the|it|its|they|what|whatever|who|whom|whose|whoever|where|there|one_that)_"
)


class Name(NamedTuple):
    path: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}"


def names_in(path: str, source: str) -> Iterator[Name]:
    """Identifiers of a Python file, each where it is first, and the names in its strings."""
    seen = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.NAME and token.string not in seen:
            seen.add(token.string)
            yield Name(path, token.start[0], token.string)
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            continue
        if _NAME_IN_QUOTES.fullmatch(node.value):
            yield Name(path, node.lineno, node.value)


def wrong_words(name: Name) -> list[str]:
    """What to say instead of each word of ours in `name`."""
    say = dict(_SAY)
    for folder, words in _SAY_IN.items():
        if name.path.startswith(folder):
            say |= words
    spoken = {part.lower() for part in _WORD.findall(name.name)}
    wrong = [word for word in say if {word, f"{word}s"} & spoken and not _is_allowed(word, name)]
    return [f"{name}: {word!r}: say {say[word]}" for word in sorted(wrong)]


def _is_allowed(word: str, name: Name) -> bool:
    return any(word == each and fnmatch(name.path, files) for each, files in _ALLOWED)


@cache
def _names() -> tuple[Name, ...]:
    names = []
    for path in sorted(files()):
        if path == _THIS or not path.startswith(PACKAGES):
            continue
        names.append(Name(path, 1, path))
        if path.endswith(".py"):
            names += names_in(path, (ROOT / path).read_text())
    return tuple(names)


def test_names_use_the_fields_words() -> None:
    assert [wrong for name in _names() for wrong in wrong_words(name)] == []


def test_bounds_are_called_max() -> None:
    assert [str(name) for name in _names() if _UNBOUNDED.match(name.name)] == []


def test_names_of_tests_are_statements() -> None:
    assert [str(name) for name in _names() if _RIDDLE.match(name.name)] == []


def test_every_allowed_word_is_in_use() -> None:
    for word, where in _ALLOWED:
        used = any(
            {word, f"{word}s"} & {part.lower() for part in _WORD.findall(name.name)}
            for name in _names()
            if fnmatch(name.path, where)
        )
        assert used, f"{word!r} is not in {where} any more: take it off the list"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("class ArrivalQueue: ...", ["arrival"]),
        ("pictures_left = 1", ["picture"]),
        ('log.info("stream_abandoned")', ["abandoned"]),
        ('counter("parley_patience_seconds")', ["patience"]),
        ('environ["PARLEY_MAX_LANES"]', ["lane"]),
        ("toldness = bold = 1", []),
        ('"a stranger in prose"', []),
    ],
)
def test_word_is_found_in_identifiers_and_quoted_names(source: str, found: list[str]) -> None:
    names = names_in("billing/example.py", source)
    assert [w.split("'")[1] for name in names for w in wrong_words(name)] == found
