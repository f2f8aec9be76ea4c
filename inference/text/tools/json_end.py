"""Where a JSON value ends in text that is still coming."""

from __future__ import annotations


class JsonEnd:
    """Finds where a JSON object or list ends."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, text: str) -> tuple[str, bool]:
        """As much of `text` as belongs to the value, and whether the value ends with it."""
        for at, character in enumerate(text):
            if self._in_string:
                if self._escaped:
                    self._escaped = False
                elif character == "\\":
                    self._escaped = True
                elif character == '"':
                    self._in_string = False
            elif character == '"':
                self._in_string = True
            elif character in "{[":
                self._depth += 1
            elif character in "}]":
                self._depth -= 1
                if self._depth <= 0:
                    return text[: at + 1], True
        return text, False
