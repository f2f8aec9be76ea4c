"""One spelling for each word, whatever disguise it came in.

`words(text)` cuts a text into words in one linear pass and folds each: compatibility forms
(NFKC), look-alikes of other scripts, combining marks, zero-width and bidirectional controls,
leetspeak, letters spaced out. Every word keeps the span of the raw text that it came from, so
that the streaming side knows what to hold back.

Folding that could spoil honest text (leetspeak, look-alikes, joined letters) is done only
where the result is a word that the classifiers know; "mp3" and Russian stay what they are.

No regular expression here has nested or adjacent overlapping repetition: the work is linear
in the text's length for any input (tests/safety/test_normalise.py feeds 1 MB of the worst).
"""

import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from safety.read.confusables import LEET, LEET_SECOND_READING, TWINS

MIN_LEET = 2
"""A sign alone is no letter."""

MIN_SPACED_LETTERS = 4
MAX_SPACED_LETTERS = 64
_FIRST_NON_LATIN = "\u0250"

MAX_WORD = 128
"""Characters after which a run without a border is cut; decoding looks at longer runs itself."""

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f\U000e0100-\U000e01ef"
)
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
)
_INDIC_AND_THAI = "\u0900-\u0dff\u0e00-\u0e7f"
_LETTERS_IN_BOXES = "\U0001f130-\U0001f189"
_SIGNS = "@$!|+€£"
_ONE_CHARACTER_WORDS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"

_WORD = re.compile(
    f"[a-zA-Z']{{1,{MAX_WORD}}}+(?=[ ,.\n])"  # the last alternative's plain words, sooner
    f"|[{_ONE_CHARACTER_WORDS}]"
    f"|(?:(?![{_ONE_CHARACTER_WORDS}])"
    f"[\\w{_SIGNS}{_INVISIBLE}{_MARKS}{_INDIC_AND_THAI}{_LETTERS_IN_BOXES}'\u2019])"
    f"{{1,{MAX_WORD}}}"
)
_ONE_CHARACTER_WORD = re.compile(f"[{_ONE_CHARACTER_WORDS}]")
_TWO_LETTERS = re.compile("[a-zA-Z]{2}")
_DROPPED = re.compile(f"[{_INVISIBLE}{_MARKS}'\u2019_]")
_SIGN_RUN = re.compile(f"[{_SIGNS}]+")
_TAGS = {code: chr(code - 0xE0000) for code in range(0xE0020, 0xE007F)}
"""Unicode tag characters: an invisible copy of ASCII."""


class Word(NamedTuple):
    """A folded word and the raw span `[start, end)` it was read from; `raw` as it was written,
    where that is one run of characters."""

    text: str
    start: int
    end: int
    raw: str = ""


class Vocabulary:
    """The words that a disguised spelling may be read as."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._longest = max((len(word) for word in self._known), default=0)
        self.fold = lru_cache(maxsize=65_536)(self._fold)

    def words(self) -> frozenset[str]:
        return self._known

    def __contains__(self, word: str) -> bool:
        return word in self._known

    def _fold(self, raw: str) -> tuple[str, ...]:
        """The words that one raw word stands for; empty for bare signs and invisible ones.

        None holds white space: the rules find the borders of words by it.
        """
        text = raw.translate(_TAGS)
        is_hidden = text != raw
        if not text.isascii():
            decomposed = unicodedata.normalize("NFKD", text)
            text = unicodedata.normalize("NFKC", _DROPPED.sub("", decomposed))
        text = _DROPPED.sub("", text).casefold()
        if is_hidden or " " in text:
            # A whole sentence may hide in tag characters, and U+037A decomposes to a space.
            return tuple(word for part in _WORD.findall(text) for word in self._read(part))
        return self._read(text)

    def _read(self, text: str) -> tuple[str, ...]:
        """The words of `_fold`, from composed text in lower case."""
        if not text.isascii():
            text = self._unmask(text)
        if text.isalpha():
            return (text,)
        plain = text.strip(_SIGNS)
        if plain in self._known or len(plain) < MIN_LEET:
            return (plain,) if plain else ()
        for reading in (LEET, LEET_SECOND_READING):
            for candidate in (text.translate(reading), plain.translate(reading)):
                if candidate in self._known and not plain.isdigit():
                    return (candidate,)
        return tuple(part for part in _SIGN_RUN.split(text) if part)

    def _unmask(self, text: str) -> str:
        """Read look-alikes as Latin where the word mixes scripts or becomes a known word."""
        latin = text.translate(TWINS)
        if latin == text or not latin.isascii():
            return text
        mixed = any(character.isascii() and character.isalpha() for character in text)
        return latin if mixed or latin in self._known else text

    def segment(self, letters: str) -> list[str] | None:
        """`letters` as the fewest known words in a row, or None where some letter is left over.

        O(len · longest known word); for letters that were spaced out one by one.
        """
        if letters in self._known:
            return [letters]
        best: list[list[str] | None] = [[]] + [None] * len(letters)
        for end in range(1, len(letters) + 1):
            for start in range(max(0, end - self._longest), end):
                head = best[start]
                if head is not None and letters[start:end] in self._known:
                    found = best[end]
                    if found is None or len(head) + 1 < len(found):
                        best[end] = [*head, letters[start:end]]
        return best[-1]


class WordStream:
    """Cuts text that arrives in parts into words; the same words however it is cut."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._unfinished = ""
        self._position = 0
        self._letters: list[Word] = []

    @property
    def settled(self) -> int:
        """Raw position before which every word has been given out."""
        return self._letters[0].start if self._letters else self._position

    @property
    def unfinished(self) -> tuple[int, str]:
        """Where a word begins that may still grow, and its raw text so far, possibly none."""
        return self._position, self._unfinished

    def feed(self, delta: str) -> list[Word]:
        """The words that `delta` completes, spans counted from the beginning of the stream."""
        return self._cut(self._unfinished + delta, final=False)

    def finish(self) -> list[Word]:
        """The words that only the end of the text completes."""
        found = self._cut(self._unfinished, final=True)
        found.extend(self._spelled())
        return found

    def _cut(self, text: str, *, final: bool) -> list[Word]:
        found: list[Word] = []
        base, unfinished_at = self._position, len(text)
        fold = self._vocabulary.fold
        for match in _WORD.finditer(text):
            raw = match.group()
            start, end = match.span()
            open_ended = end == len(text) and not final and len(raw) < MAX_WORD
            if open_ended and not _ONE_CHARACTER_WORD.match(raw):
                unfinished_at = start
                if self._letters and _TWO_LETTERS.match(raw):
                    # However it goes on, it is no single letter: those before it are complete.
                    found.extend(self._spelled())
                break
            for part in fold(raw):
                word = Word(part, base + start, base + end, raw)
                if len(part) == 1 or self._letters:  # else it would only be handed through
                    self._take(word, found)
                else:
                    found.append(word)
        self._unfinished = text[unfinished_at:]
        self._position = base + unfinished_at
        return found

    def _take(self, word: Word, found: list[Word]) -> None:
        """Give `word` out, or keep it while it may be one letter of a spaced-out word."""
        if len(word.text) == 1 and word.text.isalpha() and word.text < _FIRST_NON_LATIN:
            self._letters.append(word)
            if len(self._letters) == MAX_SPACED_LETTERS:
                found.extend(self._spelled())
            return
        found.extend(self._spelled())
        found.append(word)

    def _spelled(self) -> list[Word]:
        """The waiting single letters, as the words that they spell where they spell any."""
        run, self._letters = self._letters, []
        if len(run) < MIN_SPACED_LETTERS:
            return run
        spelled: list[Word] = []
        for group in _groups_by_gap(run):
            letters = "".join(word.text for word in group)
            parts = self._vocabulary.segment(letters)
            if parts is None:
                spelled.extend(group)
                continue
            position = 0
            for part in parts:
                last = position + len(part) - 1
                spelled.append(Word(part, group[position].start, group[last].end))
                position = last + 1
        return spelled


def _groups_by_gap(run: list[Word]) -> list[list[Word]]:
    """Cut spaced-out letters where the gap is wider than the usual one: at the word borders."""
    gaps = [after.start - before.end for before, after in pairwise(run)]
    usual = min(gaps)
    groups = [[run[0]]]
    for gap, word in zip(gaps, run[1:], strict=True):
        if gap > usual:
            groups.append([])
        groups[-1].append(word)
    return groups


def words(text: str, vocabulary: Vocabulary) -> list[Word]:
    """The folded words of `text` in order, spaced-out letters joined."""
    stream = WordStream(vocabulary)
    return stream.feed(text) + stream.finish()


def plain(found: Collection[Word]) -> str:
    """The words as one string with single spaces, one at each end, for matching at borders."""
    return f" {' '.join(word.text for word in found)} " if found else " "
