"""One name for one thing, and the field's: words of our own come back in no name.

Names are identifiers, files, log events, metrics, error codes and settings: what is typed, searched
for and alerted on. Prose is free. A word that a library or a format brings is allowed where it is
used, by a line of `_ALLOWED` that says so.
"""

import ast
import re
from collections.abc import Iterator
from fnmatch import fnmatch
from functools import cache
from typing import NamedTuple

import pytest

from infra.launcher.procfile import ROOT
from tests.docs.repository import PACKAGES, files, without_prose

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
    ("piece", "tests/safety/test_compiled_encoder.py"): "the same",
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
    for node in ast.walk(ast.parse(source)):
        for name in _names_of(node):
            if name not in seen:
                seen.add(name)
                yield Name(path, getattr(node, "lineno", 1), name)


def _names_of(node: ast.AST) -> Iterator[str]:
    """What a node of the syntax tree names: its texts are identifiers, but for a constant."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and _NAME_IN_QUOTES.fullmatch(node.value):
            yield node.value
        return
    for _, value in ast.iter_fields(node):
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (one for one in value if isinstance(one, str))


def wrong_words(name: Name) -> list[str]:
    """What to say instead of each word of ours in `name`."""
    say, spoken = _said_instead(name.path), _words(name.name)
    wrong = [
        word
        for word in say.keys() & (spoken | {each.removesuffix("s") for each in spoken})
        if not _is_allowed(word, name)
    ]
    return [f"{name}: {word!r}: say {say[word]}" for word in sorted(wrong)]


def _said_instead(path: str) -> dict[str, str]:
    """What holds for a file."""
    return _SAY | {
        word: instead
        for folder, words in _SAY_IN.items()
        if path.startswith(folder)
        for word, instead in words.items()
    }


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(part.lower() for part in _WORD.findall(name))


def _is_allowed(word: str, name: Name) -> bool:
    return any(word == each and fnmatch(name.path, files) for each, files in _ALLOWED)


@cache
def _names() -> tuple[Name, ...]:
    """Of each path, and of each file in which any word of its code would be wrong as a name: only
    these are taken apart, since that takes ten seconds for all."""
    names = []
    for path in sorted(files()):
        if path == _THIS or not path.startswith(PACKAGES):
            continue
        names.append(Name(path, 1, path))
        if path.endswith(".py"):
            source = (ROOT / path).read_text()
            wrong = frozenset(_said_instead(path))
            words = set(re.findall(r"\w+", without_prose(source)))
            if any(_is_suspect(word, wrong) for word in words):
                names += names_in(path, source)
    return tuple(names)


@cache
def _is_suspect(word: str, wrong: frozenset[str]) -> bool:
    if _UNBOUNDED.match(word) or _RIDDLE.match(word):
        return True
    return any(each in wrong or each.removesuffix("s") in wrong for each in _words(word))


def test_names_use_the_fields_words() -> None:
    assert [wrong for name in _names() for wrong in wrong_words(name)] == []


def test_bounds_are_called_max() -> None:
    assert [str(name) for name in _names() if _UNBOUNDED.match(name.name)] == []


def test_names_of_tests_are_statements() -> None:
    assert [str(name) for name in _names() if _RIDDLE.match(name.name)] == []


def test_every_allowed_word_is_in_use() -> None:
    for word, where in _ALLOWED:
        used = any(
            {word, f"{word}s"} & _words(name.name) for name in _names() if fnmatch(name.path, where)
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


def test_prose_of_a_file_is_told_from_its_code() -> None:
    source = """one = "it's a lane"  # a "lane
two = f"{lane} there", "a_lane", r'''# no lane'''
"""
    assert without_prose(source) == 'one =     \ntwo = f"{lane} there", "a_lane",  \n'
