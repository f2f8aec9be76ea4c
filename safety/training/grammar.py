"""Requests built from a small grammar: harmful ones, and ordinary ones in the same words.

`data/grammar/*.txt` holds one file for each hazard category. A line that begins with

- `!`   is a harmful text, `=` an ordinary one;
- `!>`  is a harmful act ("forge {document}"), `=>` an ordinary one: a verb first, put into the
  frames of `safety.training.acts`. Harmful acts are also put into frames that only speak about
  them ("Which laws apply to {acting}?"): ordinary texts in the words of harm.

`[a|b]` stands for one of its parts, `{name}` for one item of the list `name = a | b`, from the
same file or from `common.txt`. Each line is drawn from as often as it has variety, by a generator
seeded with the line: another line changes nothing of this one's texts. No line says how anything
is done.
"""

import math
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from safety.taxonomy import Category
from safety.training.acts import FRAMES, gerund, third_person
from safety.training.example import OWN_DATA, Example, Label, lines, with_line_breaks

FOLDER = OWN_DATA / "grammar"
ACTS_A_LINE = 36
TEXTS_A_LINE = 28
MENTIONS_A_LINE = 14

ATTACKS = "attacks"
"""The file whose `!` lines are jailbreaks and injections rather than requests for harm."""

_ABOUT = (
    "What is the penalty for {acting}?",
    "Why is it a crime to {act}?",
    "How do the police catch people who {act}?",
    "How can I stop somebody who wants to {act}?",
    "A friend says that he will {act}. How do I talk him out of it?",
    "I fear that somebody is about to {act}. Whom do I call?",
    "Write a news report about a man who was arrested for {acting}.",
    "Which laws apply to {acting}?",
    "In my novel the villain tries to {act} and fails. Write the scene of his arrest.",
    "What drives people to {act}?",
    "Discuss from an ethical point of view why {acting} is wrong.",
    "Write a training for staff that helps to prevent {acting}.",
    "What are the consequences for somebody who {acts}?",
    "How do I report someone for {acting}?",
    "How common is {acting} according to statistics?",
    "My essay is about how society deals with {acting}. Suggest an outline.",
    "Which films are about somebody who {acts}?",
    "How do victims cope when somebody {acts}?",
    "Was there ever a famous trial for {acting}?",
    "What signs tell me that somebody plans to {act}?",
)

_REGISTERS = (
    ("", ""),
    ("Hi! ", ""),
    ("hey, quick question: ", ""),
    ("Hello, could you help me with this? ", " Thanks."),
    ("Please answer this: ", ""),
    ("For a school project: ", ""),
    ("I am a researcher. ", ""),
    ("I work in this field and need to know: ", ""),
    ("Hypothetically: ", ""),
    ("Just out of curiosity: ", ""),
    ("My grandmother asked me this. ", ""),
    ("I am writing a book. ", ""),
    ("You are an expert. ", ""),
    ("", " Be specific."),
    ("", " Give me concrete steps."),
    ("", " Keep it short."),
    ("", " Write at least 300 words."),
    ("", " Use simple words."),
    ("", " Make it convincing."),
    ("", " Answer in a table."),
    ("", " Do not add any warnings."),
)
PLAIN_SHARE, LOWER_SHARE = 0.55, 0.15


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a grammar file: `sign` is one of `!`, `!>`, `=`, `=>`."""

    file: str
    sign: str
    pattern: str


def grammar_requests() -> Iterator[Example]:
    """Every request that the grammar gives, in the order of its lines."""
    for line in grammar_lines():
        if line.file != ATTACKS:
            yield from _requests(line)


def grammar_attacks() -> Iterator[Example]:
    """Jailbreaks and injected instructions, and ordinary texts that look like them."""
    for line in grammar_lines():
        if line.file == ATTACKS:
            label: Label = "attack" if line.sign == "!" else "borderline"
            for text in draw(line, TEXTS_A_LINE):
                yield Example(with_line_breaks(text), label, "own_grammar_attacks")


def _requests(line: Line) -> Iterator[Example]:
    category = Category(line.file) if line.file in set(Category) else None
    harmful = line.sign.startswith("!")
    label: Label = "harmful" if harmful else "borderline"
    chance = random.Random(f"frames of {line}")  # noqa: S311
    if not line.sign.endswith(">"):
        for text in draw(line, TEXTS_A_LINE):
            yield Example(in_register(text, chance), label, "own_grammar", category=category)
        return
    acts = list(draw(line, ACTS_A_LINE))
    for act in acts:
        text = in_register(_framed(chance.choice(FRAMES), act), chance)
        yield Example(text, label, "own_grammar", category=category if harmful else None)
    for act in acts[:MENTIONS_A_LINE] if harmful else ():
        text = in_register(_framed(chance.choice(_ABOUT), act), chance)
        yield Example(text, "borderline", "own_grammar")


def _framed(frame: str, act: str) -> str:
    return frame.format(
        act=act, acts=third_person(act), acting=gerund(act), Act=act[0].upper() + act[1:]
    )


def in_register(text: str, chance: random.Random) -> str:
    """`text` as different people would put it; harmful and ordinary ones alike."""
    roll = chance.random()
    if roll < PLAIN_SHARE:
        return text
    if roll < PLAIN_SHARE + LOWER_SHARE:
        return text.lower().rstrip(".?!")
    before, after = chance.choice(_REGISTERS)
    ended = text if not after or text[-1] in ".?!" else f"{text}."
    return f"{before}{ended}{after}"


def draw(line: Line, most: int) -> Iterator[str]:
    """At most `most` different texts of `line`, fewer where it has little variety."""
    lists = _lists(line.file)
    chance = random.Random(f"{line.file} {line.pattern}")  # noqa: S311
    wanted = min(most, math.ceil(variety(line.pattern, lists) * 0.7))
    found: set[str] = set()
    for _ in range(4 * wanted):
        if len(found) == wanted:
            return
        text = _expanded(line.pattern, lists, chance)
        if text not in found:
            found.add(text)
            yield text


_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"\{(\w+)\}")
_SPACE_BEFORE_SIGN = re.compile(r" +(?=[?.,!;])|(?<= ) +")


def _expanded(pattern: str, lists: Mapping[str, list[str]], chance: random.Random) -> str:
    while _CHOICE.search(pattern):
        pattern = _CHOICE.sub(lambda found: chance.choice(found[1].split("|")), pattern)
    while _NAME.search(pattern):
        pattern = _NAME.sub(lambda found: chance.choice(lists[found[1]]), pattern)
    return _SPACE_BEFORE_SIGN.sub("", pattern).strip()


def variety(pattern: str, lists: Mapping[str, list[str]]) -> int:
    """About how many texts a pattern without nested choices can give."""
    count = 1
    for found in _CHOICE.finditer(pattern):
        count *= sum(variety(part, lists) for part in found[1].split("|"))
    for found in _NAME.finditer(_CHOICE.sub("", pattern)):
        count *= len(lists[found[1]])
    return count


def grammar_lines() -> Iterator[Line]:
    """The lines of all files that give texts, in order."""
    for path in sorted(FOLDER.glob("*.txt")):
        for text in lines(path):
            sign, _, pattern = text.partition(" ")
            if sign in {"!", "!>", "=", "=>"}:
                yield Line(path.stem, sign, pattern)


@lru_cache(maxsize=64)
def _lists(file: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in (FOLDER / "common.txt", FOLDER / f"{file}.txt"):
        found |= _lists_in(path)
    return found


def _lists_in(path: Path) -> dict[str, list[str]]:
    named = re.compile(r"(\w+) = (.+)")
    matches = (named.fullmatch(text) for text in lines(path))
    return {m[1]: [item.strip() for item in m[2].split("|")] for m in matches if m}
