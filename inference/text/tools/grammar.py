"""What may be sampled where a model may call tools, as llguidance's Lark.

Each call has exactly its family's form and arguments of its tool's schema. Free text is free up
to the family's trigger, so that what looks like a call is one.

Source: llguidance's documentation of its Lark syntax: lazy lexemes, `&` and `~` of regular
expressions, `<[id]>` for tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from inference.text.tools.bare import SPACE, head_expression
from inference.text.tools.formats import ToolFormat

MAX_CALLS = 32
"""In one answer: a small model would repeat itself until its tokens are used up."""

_ANY_OBJECT: dict[str, Any] = {"type": "object"}
_NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
# As models write JSON, and no white space without end.
_SPACING = {"whitespace_flexible": False, "key_separator": ": ", "item_separator": ", "}


@dataclass(frozen=True)
class Tool:
    """A function that may be called. `parameters`: its JSON schema, None for no arguments."""

    name: str
    parameters: dict[str, Any] | None
    strict: bool = False


@dataclass(frozen=True)
class CallRules:
    """What an answer may be.

    Attributes:
        text: it may be text and no call; `answer` is then the text's own schema, if it has one.
        many: it may be several calls.
    """

    tools: list[Tool]
    text: bool
    many: bool
    answer: dict[str, Any] | None = None


def arguments_schema(tool: Tool, *, loose: bool = False) -> dict[str, Any]:
    """The schema that arguments of `tool` are held to.

    Not strict and with properties it takes no others unless it says so: a model that may invent
    names does.

    Args:
        loose: any object, for a schema that no grammar can hold.
    """
    if tool.parameters is None:
        schema = _NO_ARGUMENTS
    elif loose:
        schema = _ANY_OBJECT
    elif "properties" in tool.parameters:
        schema = {"type": "object", "additionalProperties": False, **tool.parameters}
    else:
        schema = {"type": "object", **tool.parameters}
    return {**schema, "x-guidance": _SPACING}


def call_grammar(
    form: ToolFormat,
    rules: CallRules,
    special_id: Callable[[str], int | None],
    special_tokens: frozenset[str],
    schemas: dict[str, dict[str, Any]],
) -> str:
    """The grammar of an answer.

    Args:
        special_id: the token of a special token's text.
        schemas: of each tool's arguments.
    """
    spell = _Speller(special_id, special_tokens)
    count = 1 if form.one_call or not rules.many else MAX_CALLS
    next_call = spell(form.close + form.separator + form.open)
    more = f" ({next_call} call){{0,{count - 1}}}" if count > 1 else ""
    calls = f"{spell(form.begin + form.open)} call{more} {_ending(form, spell)}".rstrip()
    bare = bare_names(form, rules, special_tokens)
    lines = []
    if not rules.text:
        lines.append(f"start: {calls}{' | bare' if bare else ''}")
        lines += _bare_calls(bare, count, after_text=False)
    elif rules.answer is not None:
        schema = {**rules.answer, "x-guidance": {"whitespace_flexible": False}}
        lines += [f"start: {calls} | answer", f"answer: %json {json.dumps(schema)}"]
    else:
        lines += _with_text(form, calls, spell, bare)
        lines += _bare_calls(bare, count, after_text=True)
    options = " | ".join(f"call_{index}" for index in range(len(rules.tools)))
    lines.append(f"call: {options}")
    for index, tool in enumerate(rules.tools):
        lines.append(f"call_{index}: {spell(tool.name + form.middle)} args_{index}")
        lines.append(f"args_{index}: {_arguments(form, schemas[tool.name])}".rstrip())
    return "\n".join(lines) + "\n"


def _ending(form: ToolFormat, spell: _Speller) -> str:
    """What closes the last call.

    White space that parts calls may follow it: else a token that holds the end of a mark and a line
    break would commit the model to another call.
    """
    ending = spell(form.close + form.end)
    if form.one_call:
        # The token that closes it ends the model's turn, and no grammar takes such a one as text.
        return f"({ending})?"
    if not form.separator.isspace() or form.end:
        return ending
    if spell.has_special(form.close):
        return f"{ending} ({spell(form.separator)})?"
    return f"/{_escaped(form.close)}({_escaped(form.separator)})?/"


def _escaped(text: str) -> str:
    """`text` as a regular expression of Lark."""
    return re.escape(text).replace("\\\n", r"\n").replace("/", r"\/")


def bare_names(
    form: ToolFormat, rules: CallRules, special_tokens: frozenset[str]
) -> tuple[str, ...]:
    """The functions whose calls are taken without the family's marks too: everywhere but where
    text has a schema of its own."""
    has_schema = rules.text and rules.answer is not None
    if not form.reads_bare or has_schema or any(one in form.trigger for one in special_tokens):
        return ()
    return tuple(tool.name for tool in rules.tools)


def _bare_calls(names: Sequence[str], count: int, *, after_text: bool) -> list[str]:
    """Calls without marks: text up to the first one's arguments, in a fence and a list or in none,
    and nothing but calls after it.

    Args:
        after_text: whether text may stand before the first.
    """
    if not names:
        return []
    if after_text:
        heads = [
            f"bare_head_{index}[lazy]: /(?s:.*){head_expression(name)}/"
            for index, name in enumerate(names)
        ]
    else:
        space = f"{SPACE}{{0,4}}"
        heads = [
            rf"bare_head_{index}: /(```[a-z]{{0,8}}\n)?(\[{space})?{head_expression(name, space)}/"
            for index, name in enumerate(names)
        ]
    first = " | ".join(f'bare_head_{index} (" ")? args_{index}' for index in range(len(names)))
    more = f" (BARE_NEXT call BARE_CLOSE){{0,{count - 1}}}" if count > 1 else ""
    return [
        f"bare: ({first}) BARE_CLOSE{more} BARE_END?",
        *heads,
        f"BARE_CLOSE: /{SPACE}{{0,4}}\\}}/",
        rf'BARE_NEXT: /({SPACE}|[,;]){{0,4}}(```\n```[a-z]{{0,8}}\n)?\{{{SPACE}{{0,4}}"name": "/',
        rf"BARE_END: /{SPACE}{{0,4}}\]?\n?(```)?/",
    ]


def _with_text(form: ToolFormat, calls: str, spell: _Speller, bare: Sequence[str]) -> list[str]:
    """Text, or calls, or text that calls follow. From the trigger on it is a call."""
    whole, rest = form.begin + form.open, (form.begin + form.open)[len(form.trigger) :]
    tail = calls[len(spell(whole)) :]
    if spell.has_special(form.trigger):
        # Text is made of characters: it holds no special token, so it needs no other end.
        before = "TEXT? " if form.anywhere else ""
        lines = [f"answer: {spell(form.preface)} TEXT | {before}{calls}", "TEXT: /(?s:.+)/"]
        if form.thought is None:
            return ["start: answer", *lines]
        begin, end = map(spell, form.thought)
        lines.append(f"thought: {begin} TEXT? {end}")
        if form.preamble is None:
            return ["start: thought? answer", *lines]
        begin, end = map(spell, form.preamble)
        return ["start: thought? preamble? answer", f"preamble: {begin} TEXT {end}", *lines]
    trigger = re.escape(form.trigger).replace("/", r"\/")
    if not form.anywhere:
        return [f"start: TEXT | {calls}", f"TEXT: /(?s:.+)/ & ~/{trigger}(?s:.*)/"]
    begins = "|".join([trigger, *map(head_expression, bare)])
    return [
        f"start: TEXT | head {spell(rest)}{tail}{' | bare' if bare else ''}",
        f"TEXT: /(?s:.+)/ & ~/(?s:.*)({begins})(?s:.*)/",
        f"head[lazy]: /(?s:.*){trigger}/",
    ]


def _arguments(form: ToolFormat, schema: dict[str, Any]) -> str:
    """Arguments as JSON, or `key=value, …` in Python's form with JSON's values."""
    if not form.is_python:
        return f"%json {json.dumps(schema)}"
    required = set(schema.get("required", ()))
    # An optional one follows a comma, so those that are always there come first.
    properties = sorted(
        schema.get("properties", {}).items(), key=lambda item: item[0] not in required
    )
    shared = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    given = ""
    for count, (key, value) in enumerate(properties):
        held = {"x-guidance": _SPACING, **shared, **(value if isinstance(value, dict) else {})}
        one = f"{json.dumps(('' if not count else ', ') + key + '=')} %json {json.dumps(held)}"
        given += f" {one}" if key in required or not count else f" ({one})?"
    return f"({given.strip()})" if required else f"({given.strip()})?" if given else ""


class _Speller:
    """Texts as Lark: literals, and special tokens by their ids."""

    def __init__(
        self, special_id: Callable[[str], int | None], special_tokens: frozenset[str]
    ) -> None:
        self._id = special_id
        longest_first = sorted(special_tokens, key=len, reverse=True)
        self._special = re.compile(f"({'|'.join(map(re.escape, longest_first)) or '(?!)'})")

    def __call__(self, text: str) -> str:
        parts = [part for part in self._special.split(text) if part]
        return " ".join(
            f"<[{self._id(part)}]>"
            if self._special.fullmatch(part)
            else json.dumps(part, ensure_ascii=False)
            for part in parts
        )

    def has_special(self, text: str) -> bool:
        return self._special.search(text) is not None
