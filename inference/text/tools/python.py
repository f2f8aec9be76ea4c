"""Calls written as a Python list: `[weather(city="Paris"), now()]`, and given as JSON."""

from __future__ import annotations

import ast
import json

from inference.text.tools.parts import Arguments, CallBegins, Content, Part

_JSON_NAMES = {"true": True, "false": False, "null": None}


class PythonParser:
    """Tells a call once it is whole: its arguments are no JSON before."""

    def __init__(self) -> None:
        self.calls = 0
        self._held = ""
        self._in_list = False
        self._is_text = False

    def feed(self, text: str) -> list[Part]:
        self._held += text
        if not self._in_list and not self._is_text:
            if not self._held.strip():
                return []
            self._in_list = self._held.lstrip().startswith("[")
            self._is_text = not self._in_list
            if self._in_list:
                self._held = self._held.lstrip()[1:]
        if self._is_text:
            return self._text(self._held)
        parts: list[Part] = []
        while (end := _end_of_call(self._held)) is not None:
            call, self._held = self._held[:end], self._held[end:]
            read = _read(call)
            if read is None:
                self._is_text, self._in_list = True, False
                return [*parts, *self._text(("" if self.calls else "[") + call + self._held)]
            self.calls += 1
            parts += read
        return parts

    def finish(self) -> list[Part]:
        if self._in_list and not self.calls:
            return self._text(f"[{self._held}")
        return []

    def _text(self, text: str) -> list[Part]:
        self._held = ""
        return [Content(text)] if text else []


def _end_of_call(text: str) -> int | None:
    """Where the first call ends, after its closing parenthesis; None while it goes on."""
    depth, quote, escaped = 0, "", False
    for at, character in enumerate(text):
        if quote:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == quote:
                quote = ""
        elif character in "\"'":
            quote = character
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0 and character == ")":
                return at + 1
    return None


def _read(call: str) -> list[Part] | None:
    name, opened, rest = call.lstrip(", ").partition("(")
    try:
        node = ast.parse(f"call({rest}", mode="eval").body  # a name may hold what Python's cannot
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not opened or not isinstance(node, ast.Call) or node.args:
        return None
    try:
        arguments = {str(one.arg): _value(one.value) for one in node.keywords}
    except ValueError:
        return None
    return [CallBegins(name), Arguments(json.dumps(arguments, ensure_ascii=False))]


def _value(node: ast.expr) -> object:
    """A literal of Python or JSON.

    Raises:
        ValueError: it is none.
    """
    if isinstance(node, ast.Name) and node.id in _JSON_NAMES:
        return _JSON_NAMES[node.id]
    if isinstance(node, ast.List):
        return [_value(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise ValueError("unpacking is no literal")
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_value(key)): _value(value) for key, value in pairs if key is not None}
    value: object = ast.literal_eval(node)
    return value
