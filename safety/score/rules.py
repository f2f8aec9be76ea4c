"""The first layer: rules over word groups, found in one linear pass.

A rule (`data/rules.toml`) names groups of phrases that must all occur within a few words of
each other: a single alarming word proves nothing, "how to make" beside "pipe bomb" does. All
phrases of all groups sit in one Aho-Corasick automaton, so the cost does not grow with their
number. The first group of a rule is its *anchor*: the specific noun; a match's flagged span
begins there, which lets the streaming side hold text back only after an anchor was written.
"""

import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import ahocorasick

from safety.read.normalise import Vocabulary, Word, plain, words
from safety.score.artefacts import DATA
from safety.taxonomy import OPENAI_CATEGORIES, Category
from safety.types import Stage

RULES_FILE = DATA / "rules.toml"


class InvalidRules(ValueError):
    """The rules file names an unknown group, category or field."""


@dataclass(frozen=True, slots=True)
class Rule:
    """All of `groups` within `within` words of each other mean `category` with `score`.

    Attributes:
        groups: the anchor first.
        unless: groups whose occurrence in the `within` words before the match excuses it.
        moderation: finer OpenAI categories that this rule can tell (`safety.taxonomy`).
        stages: where the rule applies, `prompt` and/or `output`.
    """

    id: str
    category: Category
    score: float
    groups: tuple[str, ...]
    within: int
    unless: tuple[str, ...] = ()
    moderation: tuple[str, ...] = ()
    stages: tuple[str, ...] = ("prompt", "output")


@dataclass(frozen=True, slots=True)
class Hit:
    """A phrase of `group` covers the words `first` to `last`, both included, by index."""

    group: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Match:
    """`rule` holds; its flagged span is the words `first` to `last`, both included."""

    rule: Rule
    first: int
    last: int


class Beginnings:
    """Proper beginnings of phrases, by whole words; `texts` holds them with single spaces."""

    def __init__(self, phrases: Iterable[Sequence[str]]) -> None:
        """`phrases`: the words of each."""
        whole = list(phrases)
        self.texts = frozenset(
            " ".join(parts[:count]) for parts in whole for count in range(1, len(parts))
        )
        self._whole = sorted(" ".join(parts) for parts in whole)
        self._single, self._pairs = _ends(self.texts)

    def may_end_with(self, before: str, word: str) -> bool:
        """Whether one may end with `word`, which follows `before`; cheap, and nearly always
        False."""
        return word in self._single or (before, word) in self._pairs

    def goes_on(self, text: str, letters: str) -> bool:
        """Whether a phrase begins with `text` and then a word that begins with `letters`."""
        sought = f"{text} {letters}"
        nearest = bisect_left(self._whole, sought)
        return nearest < len(self._whole) and self._whole[nearest].startswith(sought)


class RuleBook:
    """The parsed rules and their automaton. Immutable; shared by all threads."""

    def __init__(self, rules: Sequence[Rule], groups: Mapping[str, Sequence[str]]) -> None:
        self.rules = tuple(rules)
        spelled = {phrase for phrases in groups.values() for phrase in phrases}
        self.vocabulary = Vocabulary(
            {part for phrase in spelled for part in phrase.split()} | {"a"}
        )
        by_phrase: dict[str, tuple[list[str], int]] = {}
        for group, phrases in groups.items():
            for phrase in phrases:
                folded = words(phrase, self.vocabulary)
                names, _ = by_phrase.setdefault(plain(folded), ([], len(folded)))
                if group not in names:
                    names.append(group)
        self.longest_phrase: int = max(count for _, count in by_phrase.values())
        self._phrases = by_phrase
        self._single, self._pairs = _ends(by_phrase)
        self._automaton = ahocorasick.Automaton()
        for text, value in by_phrase.items():
            self._automaton.add_word(text, value)
        self._automaton.make_automaton()
        # Every answer asks, and few policies differ: to collect them anew costs milliseconds.
        self.beginnings = lru_cache(maxsize=64)(self._beginnings)
        self.first_letters = lru_cache(maxsize=64)(self._first_letters)

    def may_end_in(self, before: str, found: Sequence[Word]) -> bool:
        """Whether a phrase may end with one of the words in `found`, which follow `before`. It is
        cheaper than `hits`, and False for most words."""
        single, pairs = self._single, self._pairs
        for word in found:
            if word.text in single or (before, word.text) in pairs:
                return True
            before = word.text
        return False

    def hits(self, found: Sequence[Word], first_index: int = 0) -> list[Hit]:
        """Every phrase in `found`, ordered by its last word.

        Args:
            first_index: the index of `found[0]` in the whole text; hits count from there.
        """
        text = plain(found)
        border_to_index: dict[int, int] = {}
        position = 0
        for index, word in enumerate(found):
            position += 1 + len(word.text)
            border_to_index[position] = index
        result: list[Hit] = []
        for end, (groups, count) in self._automaton.iter(text):
            last = first_index + border_to_index[end]
            result.extend(Hit(group, last - count + 1, last) for group in groups)
        return result

    def _beginnings(self, groups: frozenset[str]) -> Beginnings:
        """Those of the phrases of `groups`."""
        return Beginnings(
            text.split()
            for text, (names, _) in self._phrases.items()
            if any(name in groups for name in names)
        )

    def _first_letters(self, groups: frozenset[str]) -> frozenset[str]:
        """Every beginning, letter by letter, of the first words of the phrases of `groups`."""
        return frozenset(
            word[:count]
            for text, (names, _) in self._phrases.items()
            if any(name in groups for name in names)
            for word in [text.split()[0]]
            for count in range(1, len(word) + 1)
        )


class RuleTracker:
    """Follows one text's hits in order and reports the rules that become true.

    Memory is one position per group, whatever the text's length.

    Args:
        stage: rules of other stages are left out.
        wanted: further narrows the rules down, for example to those that a policy blocks.
    """

    def __init__(
        self, book: RuleBook, stage: Stage, wanted: Callable[[Rule], bool] = lambda rule: True
    ) -> None:
        self._rules = [rule for rule in book.rules if stage in rule.stages and wanted(rule)]
        self._by_group: dict[str, list[Rule]] = {}
        for rule in self._rules:
            for group in rule.groups:
                self._by_group.setdefault(group, []).append(rule)
        self._anchored_within: dict[str, int] = {}
        for rule in self._rules:
            anchor = rule.groups[0]
            self._anchored_within[anchor] = max(
                rule.within if len(rule.groups) > 1 else 0, self._anchored_within.get(anchor, 0)
            )
        anchoring: dict[str, set[Category]] = {}
        for rule in self._rules:
            anchoring.setdefault(rule.groups[0], set()).add(rule.category)
        self._anchoring = {group: frozenset(named) for group, named in anchoring.items()}
        self._latest: dict[str, Hit] = {}

    def afresh(self) -> "RuleTracker":
        """One for another text, with the same rules; cheaper than to collect them anew."""
        other = copy(self)
        other._latest = {}
        return other

    @property
    def anchors(self) -> frozenset[str]:
        """The groups in which a flagged span may begin."""
        return frozenset(self._anchored_within)

    def anchored_categories(self, group: str) -> frozenset[Category]:
        """The categories of the rules whose anchor is `group`."""
        return self._anchoring.get(group, frozenset())

    def feed(self, hit: Hit) -> list[Match]:
        """The rules that `hit` completes. Hits must come ordered by `last`."""
        before = self._latest.get(hit.group)
        if before is None or before.last < hit.last or hit.first < before.first:
            self._latest[hit.group] = hit
        return [
            match
            for rule in self._by_group.get(hit.group, ())
            if (match := self._completed(rule, hit)) is not None
        ]

    def _completed(self, rule: Rule, hit: Hit) -> Match | None:
        parts: list[Hit] = []
        for group in rule.groups:
            part = self._latest.get(group)
            if part is None or hit.last - part.last > rule.within:
                return None
            parts.append(part)
        first = min(part.first for part in parts)
        for group in rule.unless:
            excuse = self._latest.get(group)
            if excuse is not None and excuse.last >= first - rule.within:
                return None
        return Match(rule, parts[0].first, hit.last)

    def open_since(self, now: int) -> int | None:
        """The earliest anchor whose rule may still come true after word `now`, or None."""
        earliest: int | None = None
        # Of what was hit: few of the many anchors ever are, and every word of an answer asks.
        for group, hit in self._latest.items():
            if now - hit.last >= self._anchored_within.get(group, 0):
                continue
            if earliest is None or hit.first < earliest:
                earliest = hit.first
        return earliest


def _ends(phrases: Iterable[str]) -> tuple[frozenset[str], frozenset[tuple[str, ...]]]:
    """The phrases of one word, and the last two words of the longer ones."""
    parts = [phrase.split() for phrase in phrases]
    single = frozenset(words[0] for words in parts if len(words) == 1)
    return single, frozenset(tuple(words[-2:]) for words in parts if len(words) > 1)


def find(text: str, stage: Stage, book: RuleBook | None = None) -> list[Match]:
    """Every rule match in `text`, in order of completion; linear in its length."""
    book = book or rule_book()
    found = words(text, book.vocabulary)
    tracker = RuleTracker(book, stage)
    return [match for hit in book.hits(found) for match in tracker.feed(hit)]


@lru_cache(maxsize=1)
def rule_book() -> RuleBook:
    """The rules that ship with the product, read once."""
    return load_rules(RULES_FILE)


def load_rules(path: Path) -> RuleBook:
    """Parse a rules file.

    Raises:
        InvalidRules: it names an unknown group, category, moderation category or field.
    """
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    groups = {name: _phrases(group) for name, group in data["groups"].items()}
    rules: list[Rule] = []
    for entry in data["rules"]:
        try:
            rule = Rule(
                id=entry.pop("id"),
                category=Category(entry.pop("category")),
                score=float(entry.pop("score", 0.95)),
                groups=tuple(entry.pop("all")),
                within=int(entry.pop("within", 12)),
                unless=tuple(entry.pop("unless", ())),
                moderation=tuple(entry.pop("moderation", ())),
                stages=tuple(entry.pop("stages", ("prompt", "output"))),
            )
        except (KeyError, ValueError) as error:
            raise InvalidRules(f"{path.name}: {error} in {entry}") from error
        unknown = set(rule.groups + rule.unless) - set(groups)
        unknown |= set(rule.moderation) - set(OPENAI_CATEGORIES)
        if entry or unknown:
            raise InvalidRules(f"{path.name}: rule {rule.id}: unknown {sorted(unknown) or entry}")
        rules.append(rule)
    return RuleBook(rules, groups)


def _phrases(group: dict[str, list[str]]) -> list[str]:
    """A group's phrases: `words` as they stand, `nouns` in both numbers, `verbs` inflected."""
    phrases = list(group.get("words", ()))
    for noun in group.get("nouns", ()):
        phrases += [noun, _plural(noun)]
    for verb in group.get("verbs", ()):
        phrases += _verb_forms(verb)
    return phrases


def _plural(noun: str) -> str:
    if noun.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def _verb_forms(verb: str) -> list[str]:
    """Infinitive, third person and -ing form; the first word of a phrase is the verb."""
    head, _, rest = verb.partition(" ")
    rest = f" {rest}" if rest else ""
    stem = head[:-1] if head.endswith("e") and not head.endswith("ee") else head
    return [head + rest, _plural(head) + rest, f"{stem}ing{rest}"]
