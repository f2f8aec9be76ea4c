"""Sampled text to content and tool calls, while it streams.

The grammar holds calls to their form, so what does not fit the form is text: a trigger that was
spelled in characters where the family has a token for it, or a model without that grammar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from typing import Protocol

from inference.text.tools.bare import BareCallParser
from inference.text.tools.formats import ToolFormat
from inference.text.tools.json_end import JsonEnd
from inference.text.tools.parts import Arguments, CallBegins, Content, Part
from inference.text.tools.python import PythonParser

_NAME = re.compile(r"[\w.-]{0,64}")


class ToolParser(Protocol):
    """Text of one choice, in order.

    Attributes:
        calls: how many have begun.
    """

    calls: int

    def feed(self, text: str) -> list[Part]: ...

    def finish(self) -> list[Part]:
        """No more text comes."""


def parser_of(form: ToolFormat, bare_names: Sequence[str] = ()) -> ToolParser:
    """
    Args:
        bare_names: functions whose calls are read without the family's marks too.
    """
    if bare_names:
        return BareCallParser(bare_names)
    return PythonParser() if form.is_python else FormatParser(form)


class _State(Enum):
    TEXT = auto()
    PREAMBLE = auto()
    NAME = auto()
    ARGUMENTS = auto()
    CLOSE = auto()


class FormatParser:
    """Parses calls of any family whose arguments are JSON."""

    def __init__(self, form: ToolFormat) -> None:
        self.calls = 0
        self._form = form
        self._first = form.begin + form.open
        self._next = form.close + form.separator + form.open
        self._last = form.close + form.end
        self._state = _State.TEXT
        self._held = ""
        self._json = JsonEnd()
        self._may_begin = True
        self._preface = form.preface
        self._parted = ""  # what parts a preamble from text that follows it

    def feed(self, text: str) -> list[Part]:
        self._held += text
        parts: list[Part] = []
        while True:
            before = (self._state, len(self._held))
            parts += self._step()
            if (self._state, len(self._held)) == before:
                return parts

    def finish(self) -> list[Part]:
        """What is held back is text where no call has begun, else markup that was cut off."""
        held, self._held = self._held, ""
        if self._state is _State.PREAMBLE and held:
            return [Content(held)]
        if self._state is _State.TEXT and held and not self.calls:
            if self._parted and self._first.startswith(held):
                return []
            return [Content(self._parted + held)]
        return []

    def _step(self) -> list[Part]:
        """Take what can be read from `_held`; nothing where more text must come first."""
        if self._state is _State.TEXT:
            return self._text()
        if self._state is _State.PREAMBLE:
            return self._preamble()
        if self._state is _State.NAME:
            return self._name()
        if self._state is _State.ARGUMENTS:
            return self._arguments()
        return self._close()

    def _text(self) -> list[Part]:
        if self._preface:
            opening = self._form.preamble[0] if self._form.preamble else ""
            if opening and self._held.startswith(opening):
                self._held = self._held[len(opening) :]
                self._state = _State.PREAMBLE
                return []
            openings = (self._preface, opening)
            if self._held not in openings and any(one.startswith(self._held) for one in openings):
                return []
            self._held, self._preface = self._held.removeprefix(self._preface), ""
        at = self._held.find(self._first) if self._may_begin else -1
        if at >= 0 and (self._form.anywhere or not self._held[:at].strip()):
            text, self._held = self._held[:at].rstrip(), self._held[at + len(self._first) :]
            self._state = _State.NAME
            return [Content(text)] if text else []
        keep = _beginning_held(self._held, self._first) if self._may_begin else 0
        shown = self._held[: len(self._held) - keep].rstrip()  # white space before a call is none
        self._held = self._held[len(shown) :]
        if shown and not self._form.anywhere:
            self._may_begin = False
        if shown:
            shown, self._parted = self._parted + shown, ""
        return [Content(shown)] if shown else []

    def _preamble(self) -> list[Part]:
        assert self._form.preamble is not None
        end = self._form.preamble[1]
        text, found, rest = self._held.partition(end)
        if found:
            self._held, self._state, self._parted = rest, _State.TEXT, "\n\n"
            text = text.rstrip()
        else:
            # White space before its end is none.
            text = text[: len(text) - _beginning_held(text, end)].rstrip()
            self._held = self._held[len(text) :]
        return [Content(text)] if text else []

    def _name(self) -> list[Part]:
        found = _NAME.match(self._held)
        assert found is not None
        name, rest = found[0], self._held[found.end() :]
        if name and rest.startswith(self._form.middle):
            self._held = rest[len(self._form.middle) :]
            self._state, self._json = _State.ARGUMENTS, JsonEnd()
            self.calls += 1
            return [CallBegins(name)]
        if not rest or (name and self._form.middle.startswith(rest)):
            return []
        return self._as_text(self._first + self._held)

    def _arguments(self) -> list[Part]:
        text, end = self._json.feed(self._held)
        self._held = self._held[len(text) :]
        if end:
            self._state = _State.CLOSE
        return [Arguments(text)] if text else []

    def _close(self) -> list[Part]:
        if self._held.startswith(self._next):
            self._held, self._state = self._held[len(self._next) :], _State.NAME
        elif self._held.startswith(self._last) and not self._next.startswith(self._held):
            self._held, self._state = self._held[len(self._last) :].lstrip(), _State.TEXT
        return []

    def _as_text(self, text: str) -> list[Part]:
        self._held, self._state = "", _State.TEXT
        return [Content(text)]


def _beginning_held(text: str, wanted: str) -> int:
    """How many last characters of `text` are the beginning of `wanted`."""
    return next(
        (
            count
            for count in range(min(len(text), len(wanted) - 1), 0, -1)
            if wanted.startswith(text[-count:])
        ),
        0,
    )
