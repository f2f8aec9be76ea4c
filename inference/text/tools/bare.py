"""Calls that a model writes as JSON without its family's marks.

Small models that were taught `<tool_call>` often write the same object in a fence, alone, or
several in a list. Such an object is a call where it names a function that was given and arguments
follow the name; any other JSON is text, and comes out as it is. vLLM and SGLang read them so too.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from inference.text.tools.json_end import JsonEnd
from inference.text.tools.parts import Arguments, CallBegins, Content, Part

_SPACE = " \t\r\n"
SPACE = r"[ \t\r\n]"
"""White space of JSON, as an expression."""
_LETTERS = string.ascii_letters
_MAY_BEGIN = re.compile(r"[<`{\[]")


def head_expression(name: str, space: str = f"{SPACE}*") -> str:
    """What a bare call of `name` begins with, up to its arguments."""
    parts = [r"\{", '"name"', ":", f'"{re.escape(name)}"', ",", '"arguments"', ":"]
    return space.join(parts)


class BareCallParser:
    """Reads calls with the marks of Hermes and without.

    What may be the beginning of a call is held back until it is one or is none.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """`names`: of the functions that may be called."""
        self.calls = 0
        self._names = names
        self._held = ""
        self._json: JsonEnd | None = None
        """Of the arguments that are being read."""

    def feed(self, text: str) -> list[Part]:
        self._held += text
        parts: list[Part] = []
        while True:
            before = (self._json is None, len(self._held))
            parts += self._text() if self._json is None else self._arguments(self._json)
            if (self._json is None, len(self._held)) == before:
                return parts

    def finish(self) -> list[Part]:
        """What is held back is text where no call has begun, else marks around calls."""
        held, self._held = self._held, ""
        is_text = held and self._json is None and not self.calls
        return [Content(held)] if is_text else []

    def _text(self) -> list[Part]:
        end = len(self._held)
        for found in _MAY_BEGIN.finditer(self._held):
            try:
                name, begin = _call_at(self._held, found.start(), self._names)
            except _DiffersError:
                continue
            except _TextEndsError:
                end = found.start()
                break
            text, self._held = self._held[: found.start()], self._held[begin:]
            self._json = JsonEnd()
            said = [*self._said(text), CallBegins(name)]
            self.calls += 1
            return said
        shown = self._held[:end].rstrip()  # white space before a call is none
        self._held = self._held[len(shown) :]
        return self._said(shown)

    def _said(self, text: str) -> list[Part]:
        """Text before the first call; after it the grammar allows nothing but marks."""
        text = text.rstrip()
        return [Content(text)] if text and not self.calls else []

    def _arguments(self, json: JsonEnd) -> list[Part]:
        text, ends = json.feed(self._held)
        self._held = self._held[len(text) :]
        if ends:
            self._json = None
        return [Arguments(text)] if text else []


class _TextEndsError(Exception):
    """The text ends where it may still become a call."""


class _DiffersError(Exception):
    """This is no call."""


def _call_at(text: str, at: int, names: Sequence[str]) -> tuple[str, int]:
    """The name of the call that begins at `at`, and where its arguments begin.

    Raises:
        _TextEndsError: more text must come first.
        _DiffersError: none begins there.
    """
    if text[at] == "<":
        at = _follow(text, at, "<tool_call>")
    elif text[at] == "`":
        at = _follow(text, at, "```")
        at += len(text[at:]) - len(text[at:].lstrip(_LETTERS))
    at = _skip_space(text, at)
    if text.startswith("[", at):
        at += 1
    at = _follow(text, at, "{", '"name"', ":", '"')
    for name in names:
        if text.startswith(f'{name}"', at):
            at = _follow(text, at + len(name) + 1, ",", '"arguments"', ":")
            begin = _skip_space(text, at)
            _follow(text, begin, "{")
            return name, begin
    if any(f'{name}"'.startswith(text[at:]) for name in names):
        raise _TextEndsError
    raise _DiffersError


def _follow(text: str, at: int, *marks: str) -> int:
    """Where `text` goes on after `marks`, with white space before each.

    Raises:
        _TextEndsError: it ends before they do; _DiffersError: it has something else.
    """
    for mark in marks:
        at = _skip_space(text, at)
        if not text.startswith(mark, at):
            raise _TextEndsError if mark.startswith(text[at:]) else _DiffersError
        at += len(mark)
    return at


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
