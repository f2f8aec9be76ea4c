"""Whether a model repeats a call that it has made in the same answer.

A small model that must call something and may call several things makes the same call until its
tokens are used up. A program that ran it twice would do twice what was asked for once.
"""

from __future__ import annotations

from collections.abc import Iterable

from inference.text.tools.parser import ToolParser
from inference.text.tools.parts import Arguments, CallBegins, Part


class CallsSoFar:
    """The calls of one answer, as its parts come."""

    def __init__(self) -> None:
        self._calls: list[str] = []

    def take(self, part: Part) -> None:
        if isinstance(part, CallBegins):
            self._calls.append(f"{part.name}\n")
        elif isinstance(part, Arguments):
            self._calls[-1] += part.text

    @property
    def may_repeat(self) -> bool:
        """True while the last call is, as far as it has come, one of those before it."""
        *before, last = self._calls
        return any(call.startswith(last) for call in before)

    @property
    def repeats(self) -> bool:
        """Whether the last call is one of those before it; arguments that have not ended are no
        other call's."""
        return len(self._calls) > 1 and self._calls[-1] in self._calls[:-1]


class RepeatWatch:
    """Finds the repeated call in the text of one answer."""

    def __init__(self, parser: ToolParser, written: Iterable[str] = ()) -> None:
        """`written`: the text so far of an answer that is continued."""
        self._parser = parser
        self._calls = CallsSoFar()
        for text in written:
            self.repeats_after(text)

    def repeats_after(self, text: str) -> bool:
        """Return whether `text`, which comes next, ends a call that was made before."""
        repeats = False
        for part in self._parser.feed(text):
            self._calls.take(part)
            repeats = repeats or self._calls.repeats
        return repeats
