"""An answer that has gone into a loop: seen while it is generated, for a few microseconds a token.

A loop is one cycle of tokens, repeated without a break until now. `Cycles` finds it and knows
tokens only. `LoopDetector` decides whether it is one too many, because honest answers repeat
themselves as well: what the user asked to have repeated is theirs, and tables, code and rows of
numbers get more room than prose. What changes from one repetition to the next (a list's numbers, a
table of multiplication) is no cycle, and is never touched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

MAX_PERIOD = 512
"""Tokens of the longest cycle that is looked for: a long paragraph."""
MIN_TOKENS = 160
MIN_CYCLES = 4
"""Prose has gone into a loop when a cycle has come so often, and has filled so many tokens."""
STRUCTURED = 4
"""Tables, code and rows of numbers may repeat themselves so many times longer."""
_GRAM = 8
"""Tokens that must come again before a cycle is suspected."""
_WORD = re.compile(r"\w+")
_LETTER = re.compile(r"[^\W\d_]")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
# "50 times", in the languages whose word for it we know; others are found by the words repeated.
_TIMES = re.compile(
    r"(\d{1,5})\s*(?:times|x\b|\u00d7|mal\b|fois|veces|vezes|volte|keer|gånger|razy|раз|次|回|번|遍)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<!\d)\d{1,5}(?!\d)")
_SAME_WORDS = 0.7
"""Of a cycle's words, that must stand in the user's text as they do in the cycle."""


@dataclass(frozen=True)
class Loop:
    """A cycle of `period` tokens that an answer repeats from its token `begin` up to `end`."""

    period: int
    begin: int
    end: int

    @property
    def tokens(self) -> int:
        return self.end - self.begin

    @property
    def repeats(self) -> int:
        return self.tokens // self.period


class Cycles:
    """Finds the cycle that the last tokens repeat, token by token.

    One period is followed at a time: the distance to the last place where the newest `_GRAM`
    tokens stood. It is kept as long as each token equals the one a period before; at the first
    that differs the next place is looked up. Some place in every cycle differs from whatever
    shorter repetition is within it, so the whole cycle is found in its second or third round.
    Cost: a slice of `_GRAM` tokens, one look-up and one comparison a token. Memory: two periods of
    tokens and their places.
    """

    def __init__(self) -> None:
        self._tokens: list[int] = []
        self._places: dict[tuple[int, ...], int] = {}
        self._offset = 0  # of `_tokens[0]` in the answer
        self._period = 0
        self._begin = 0  # where in the answer the cycle's first round began

    def feed(self, token_id: int) -> Loop | None:
        """Take the next token; the cycle that it goes on, None where there is none."""
        tokens = self._tokens
        tokens.append(token_id)
        end = self._offset + len(tokens)
        if self._period and tokens[-1 - self._period] != token_id:
            self._period = 0
        if len(tokens) >= _GRAM:
            newest = tuple(tokens[-_GRAM:])
            before = self._places.get(newest)
            self._places[newest] = end
            if not self._period and before is not None and end - before <= MAX_PERIOD:
                self._period = end - before
                self._begin = before - _GRAM
        if len(tokens) >= 4 * MAX_PERIOD:
            self._forget()
        return Loop(self._period, self._begin, end) if self._period else None

    def text_of(self, loop: Loop) -> list[int]:
        """The token ids of the last round of `loop`, two of them where both are remembered."""
        return self._tokens[-2 * loop.period :]

    def _forget(self) -> None:
        """Keep two of the longest periods; older places could not be a period away."""
        dropped = len(self._tokens) - 2 * MAX_PERIOD
        del self._tokens[:dropped]
        self._offset += dropped
        oldest = self._offset + _GRAM
        self._places = {gram: at for gram, at in self._places.items() if at >= oldest}


class LoopDetector:
    """Says when an answer has gone into a loop.

    Args:
        asked: what the user wrote; a cycle that stands in it may be wanted. None: not known.
        decode: token ids to text; asked only of a cycle that is long enough to end the answer.
    """

    def __init__(self, asked: str, decode: Callable[[list[int]], str]) -> None:
        self._asked = asked
        self._decode = decode
        self._cycles = Cycles()
        self._allowed = 0
        self._begin = -1  # of the cycle that `_allowed` is for

    def prime(self, token_ids: Iterable[int]) -> None:
        """Take what was generated before, by another engine, without ending on it."""
        for token_id in token_ids:
            self._cycles.feed(token_id)

    def feed(self, token_id: int, answer: Callable[[], str]) -> Loop | None:
        """Take the next token; the loop, when the answer should end with this token.

        Args:
            answer: gives the text so far; asked as seldom as `decode`.
        """
        loop = self._cycles.feed(token_id)
        if loop is None:
            return None
        if loop.begin != self._begin:
            self._begin, self._allowed = loop.begin, room_for_prose(loop.period)
        if loop.tokens < self._allowed:
            return None
        cycle = self._decode(self._cycles.text_of(loop))
        self._allowed = self._room(loop, cycle, answer())
        return loop if loop.tokens >= self._allowed else None

    def _room(self, loop: Loop, cycle: str, answer: str) -> int:
        """Tokens that this cycle may fill, now that its text is known."""
        room = room_for_prose(loop.period)
        numbers = _TIMES  # "50 times"; of a row or an element also "250 zeros", "20 rows"
        if is_structured(cycle, answer):
            room *= STRUCTURED
            numbers = _NUMBER
        if asked := [int(number) for number in numbers.findall(self._asked)]:
            room = max(room, (max(asked) + 2) * loop.period)
        if is_quoted(cycle, self._asked):
            room *= 2 * STRUCTURED
        return room


def room_for_prose(period: int) -> int:
    """Tokens that a cycle of `period` tokens may fill in prose that is not to repeat."""
    return max(MIN_TOKENS, MIN_CYCLES * period)


def is_structured(cycle: str, answer: str) -> bool:
    """Whether the cycle is no prose: rows of a table, code, numbers and signs without words."""
    if not _LETTER.search(cycle):
        return bool(cycle.strip())  # nothing but blanks is no table either
    rows = [line for line in cycle.splitlines() if line.strip()]
    if any(row.strip().startswith("|") and row.count("|") > 1 for row in rows):
        return True
    if len(_FENCE.findall(answer)) % 2:
        return True  # inside a block of code
    return answer.lstrip()[:1] in {"[", "{"}


def is_quoted(cycle: str, asked: str) -> bool:
    """Whether most of the cycle's words stand in `asked`, one after another.

    Args:
        cycle: two rounds of it, so that it does not matter where it begins.
    """
    words = _words(cycle)
    if not words:
        return False
    once = words[: max(1, -(-len(words) // 2))]
    wanted = max(1, round(_SAME_WORDS * len(once)))
    text = f" {' '.join(_words(asked))} "
    return any(
        f" {' '.join(words[at : at + wanted])} " in text for at in range(len(words) - wanted + 1)
    )


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
