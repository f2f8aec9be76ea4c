"""Encoded blocks of an answer, found while it streams by.

A block is a run of characters as base64, base32 and hexadecimal numbers use them, also over
several lines. It is held from its first character until the one after its last, and then
decoded; what it says is checked like an answer of its own. Words end no later than blocks do, so
ordinary text waits for a hyphenated compound at most.
"""

import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from safety.read.decode import views

MIN_BLOCK = 16
MAX_BLOCK = 4_096
"""Characters after which a block is cut and its beginning checked; a multiple of four."""

_BLOCK_CHARACTERS = string.ascii_letters + string.digits + "+/_=-"
_BLOCK = re.compile(f"[{re.escape(_BLOCK_CHARACTERS)}]+")
_LONG = re.compile(f"[{re.escape(_BLOCK_CHARACTERS)}]{{{MIN_BLOCK}}}")


class Section(NamedTuple):
    """Text of an answer, and the encoded block that ends with it, if one does."""

    text: str
    block: str


class BlockCutter:
    """Cuts an answer at the ends of its blocks; the same cuts however it was cut before."""

    def __init__(self) -> None:
        self._block = ""
        self._line = 0

    @property
    def held(self) -> int:
        """Characters at the end of what was fed that may belong to an encoded block."""
        return len(self._block)

    def feed(self, text: str) -> list[Section]:
        """`text` cut into sections. A section's block may have begun in the text before it."""
        if len(self._block) < MIN_BLOCK and _LONG.search(self._block + text) is None:
            return self._feed_words(text)
        sections: list[Section] = []
        start = position = 0
        while position < len(text):
            match = _BLOCK.match(text, position)
            if match is None:
                ended = self._end(text[position])
                position += 1
                if ended:
                    sections.append(Section(text[start : position - 1], ended))
                    start = position - 1
                if not self._block:
                    found = _BLOCK.search(text, position)
                    position = found.start() if found else len(text)
                continue
            room = MAX_BLOCK - len(self._block)
            run = match.group()[:room]
            self._block += run
            self._line += len(run)
            position += len(run)
            if len(self._block) >= MAX_BLOCK:
                sections.append(Section(text[start:position], self._block))
                self._block, self._line, start = "", 0, position
        if start < len(text):
            sections.append(Section(text[start:], ""))
        return sections

    def _feed_words(self, text: str) -> list[Section]:
        """`feed` for text in which no run is long enough for a block."""
        before = text.rstrip(_BLOCK_CHARACTERS)
        if before:
            self._block, self._line = text[len(before) :], len(text) - len(before)
        else:
            self._block += text
            self._line += len(text)
        return [Section(text, "")] if text else []

    def finish(self) -> str:
        """The block that only the end of the answer completes, or nothing."""
        block, self._block, self._line = self._block, "", 0
        return block if len(block) >= MIN_BLOCK else ""

    def _end(self, character: str) -> str:
        """Take a character that is in no block; the block that it completes, or nothing.

        A line break between two long lines is inside a block.
        """
        if character == "\n" and self._line >= MIN_BLOCK and len(self._block) < MAX_BLOCK:
            self._block += character
            self._line = 0
            return ""
        return self.finish()


def decoded(block: str) -> Iterator[str]:
    """What a block says when it is decoded, in every way that gives readable text."""
    lines = block.split("\n")
    if any(map(_may_be_encoded, lines)):
        joined = "".join(lines)
        for text in dict.fromkeys((joined, block)):
            yield from (view.text for view in views(text) if view.how != "plain")


def _may_be_encoded(line: str) -> bool:
    return len(line) >= MIN_BLOCK
