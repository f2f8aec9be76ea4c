"""Prompts that people ask an assistant, each with a check by program of what is answered.

A kind is a family of like prompts; the router is tried on kinds that it has not learnt from. The
checks are strict about what was asked and forgiving about how it is said.
"""

import json
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

_SEED = 17
Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt. `is_right`: of the text of an answer."""

    kind: str
    text: str
    is_right: Check


class _Kind(msgspec.Struct, frozen=True):
    """
    Attributes:
        known: what is put into `asked`, and the pattern of a right answer.
    """

    name: str
    asked: str
    known: list[tuple[str, str]]


class _Known(msgspec.Struct, frozen=True):
    """prompts.toml."""

    small_talk: list[str]
    short_texts: list[str]
    words: list[str]
    people: list[tuple[str, str]]
    kind: list[_Kind]


@cache
def _known() -> _Known:
    path = Path(__file__).with_name("prompts.toml")
    return msgspec.toml.decode(path.read_bytes(), type=_Known)


def prompts() -> list[Prompt]:
    """All of them, the same ones at each call."""
    rng = random.Random(_SEED)  # noqa: S311
    made = [
        *(prompt for kind in _known().kind for prompt in _asked(kind)),
        *(Prompt("small talk", text, _is_civil) for text in _known().small_talk),
        *(Prompt("short text", text, _is_text) for text in _known().short_texts),
        *_small_sums(rng),
        *_large_sums(rng),
        *_word_games(rng),
        *_lists(rng),
        *_records(rng),
        *_forms(),
    ]
    return list({prompt.text: prompt for prompt in made}.values())


def _asked(kind: _Kind) -> Iterator[Prompt]:
    for about, right in kind.known:
        yield Prompt(kind.name, kind.asked.format(about), _names(right))


def _names(right: str) -> Check:
    """Whether one of the words between bars stands in the answer, as a word, near its beginning or
    at its end."""
    pattern = re.compile(rf"(?<!\w)(?:{right})(?!\w)", re.IGNORECASE)
    return lambda text: bool(pattern.search(text[:200]) or pattern.search(text[-60:]))


def _ends_with_number(right: float) -> Check:
    def check(text: str) -> bool:
        found = re.findall(r"-?\d[\d,]*(?:\.\d+)?", text)
        return bool(found) and abs(float(found[-1].replace(",", "")) - right) < 1e-6

    return check


def _is_civil(text: str) -> bool:
    """Some words, an end, and nothing said twice."""
    words = re.findall(r"[\w']+", text)
    sentences = [part.strip().lower() for part in re.split(r"[.!?\n]+", text) if part.strip()]
    return 1 <= len(words) <= 120 and len(set(sentences)) == len(sentences)


def _is_text(text: str) -> bool:
    """Sentences that end, none of them twice."""
    sentences = [part.strip().lower() for part in re.split(r"[.!?\n]+", text) if part.strip()]
    is_ended = text.rstrip().endswith((".", "!", "?", '"', "*", "`"))
    return len(sentences) >= 2 and len(set(sentences)) == len(sentences) and is_ended


def _small_sums(rng: random.Random) -> Iterator[Prompt]:
    for _ in range(30):
        a, b = rng.randint(1, 12), rng.randint(1, 12)
        text, right = rng.choice(((f"{a} + {b}", a + b), (f"{a + b} - {a}", b)))
        yield Prompt("small sum", f"What is {text}?", _ends_with_number(right))


def _large_sums(rng: random.Random) -> Iterator[Prompt]:
    for _ in range(40):
        a, b, c = rng.randint(120, 980), rng.randint(120, 980), rng.randint(12, 95)
        text, right = rng.choice(
            ((f"{a} + {b}", a + b), (f"{a + b} - {b}", a), (f"{c} * {b}", c * b))
        )
        yield Prompt("large sum", f"Calculate {text}.", _ends_with_number(right))


def _word_games(rng: random.Random) -> Iterator[Prompt]:
    for word in rng.sample(_known().words, 12):
        yield Prompt("word game", f"Spell the word {word} backwards.", _names(word[::-1]))
        right = _names(word.upper())
        yield Prompt("copy", f"Write the word {word} in capital letters.", right)
        letter = rng.choice(word)
        count = str(word.count(letter))
        asked = f"How many times does the letter {letter} occur in {word}?"
        numbers = {"1": "1|one|once", "2": "2|two|twice", "3": "3|three"}
        yield Prompt("word game", asked, _names(numbers[count]))
        yield Prompt("copy", f"Say the word {word} and nothing else.", _says_only(word))


def _says_only(word: str) -> Check:
    return lambda text: re.sub(r"\W", "", text).lower() == word


def _lists(rng: random.Random) -> Iterator[Prompt]:
    for _ in range(14):
        words = rng.sample(_known().words, 5)
        asked = f"Sort these words by the alphabet: {', '.join(words)}."
        yield Prompt("list", asked, _in_order(sorted(words)))
        numbers = [str(number) for number in rng.sample(range(10, 99), 5)]
        asked = f"Sort these numbers from small to large: {', '.join(numbers)}."
        yield Prompt("list", asked, _in_order(sorted(numbers)))
        asked = f"Which is the largest of these numbers: {', '.join(numbers)}?"
        yield Prompt("list", asked, _names(max(numbers)))


def _in_order(right: Sequence[str]) -> Check:
    """Whether the last time each is named, they are named in this order."""

    def check(text: str) -> bool:
        found = re.findall("|".join(rf"\b{one}\b" for one in right), text.lower())
        return tuple(found[-len(right) :]) == tuple(right)

    return check


def _records(rng: random.Random) -> Iterator[Prompt]:
    for name, city in rng.sample(_known().people, 14):
        age = rng.randint(19, 80)
        asked = (
            f"{name} is {age} years old and lives in {city}. Write this as a JSON object with the"
            " keys name, age and city, and nothing else."
        )
        yield Prompt("record", asked, _is_object({"name": name, "age": age, "city": city}))
        asked = f"{name} is {age} years old and lives in {city}. Where does {name} live?"
        yield Prompt("reading", asked, _names(city))
        asked = f"{name}, who lives in {city}, is {age} years old. How old is {name}?"
        yield Prompt("reading", asked, _names(str(age)))


def _is_object(right: dict[str, object]) -> Check:
    def check(text: str) -> bool:
        found = re.search(r"\{[^{}]*\}", text)
        try:
            return found is not None and json.loads(found[0]) == right
        except ValueError:
            return False

    return check


def _forms() -> Iterator[Prompt]:
    for subject in ("the sea", "bread", "sleep", "a forest", "winter", "music"):
        yield Prompt(
            "form",
            f"Write exactly three bullet points about {subject}.",
            lambda text: len(re.findall(r"^\s*(?:[-*•]|\d+[.)])\s+\S", text, re.MULTILINE)) == 3,
        )
        yield Prompt(
            "form",
            f"Write about {subject} in fewer than 30 words.",
            lambda text: 3 < len(text.split()) < 30,
        )
        yield Prompt(
            "form",
            f"Write one sentence about {subject} in capital letters only.",
            lambda text: len(text) > 10 and text == text.upper(),
        )
        yield Prompt(
            "form",
            f"Write a sentence about {subject} that begins with the word Listen.",
            lambda text: text.lstrip('" *').startswith("Listen"),
        )
