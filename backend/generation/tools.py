"""Tool calls of a generation: what may be called, and calls as part of an answer's text.

Between the upstream and the client an answer is one text: it is checked, counted, held back and
continued as such. A call stands in it as `CALL` name `ARGUMENTS` and its arguments; the two marks
are noncharacters, which no text may hold (`without_marks`). `CallReader` turns what has been
released into events again.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from backend.generation.thoughts import ANSWER, THOUGHT, ThoughtMarks, split_thought

CALL = "\ufdd0"
ARGUMENTS = "\ufdd1"
_MARKS = str.maketrans(dict.fromkeys((CALL, ARGUMENTS, THOUGHT, ANSWER), "\ufffd"))
# What the post-classifier puts in the place of personal data (safety/score/personal_data.py).
_REDACTED = re.compile(r"\[[a-z ]+ removed\]")


class UpstreamTools(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fields of an upstream's request that concern tools. Nothing else is sent.

    Attributes:
        tools: OpenAI's objects.
        tool_choice: `auto`, `none`, `required`, or an object that names functions.
    """

    tools: list[dict[str, Any]]
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None


class Tools(UpstreamTools, frozen=True, omit_defaults=True):
    """The tools of a generation request, with what only the product knows of them.

    Attributes:
        is_reviewed: a manager has reviewed their descriptions; nothing of them is withheld.
    """

    is_reviewed: bool = False

    @property
    def for_upstream(self) -> UpstreamTools:
        return UpstreamTools(self.tools, self.tool_choice, self.parallel_tool_calls)

    @property
    def texts(self) -> list[str]:
        """What each tells the model: what the classifiers see of it."""
        return ["\n".join(_strings(tool.get("function"))) for tool in self.tools]


def without_description(tool: dict[str, Any], mark: str) -> dict[str, Any]:
    """`tool` as it can be called, with `mark` for what it says of itself. Names stay: calls are
    made by them."""
    function = tool["function"]
    described = {"description": mark, "parameters": _bare(function.get("parameters") or {})}
    return {**tool, "function": {**function, **described}}


_SAYS_NOTHING = ("type", "properties", "required", "items", "anyOf", "oneOf", "allOf")


def _bare(schema: Any) -> Any:
    """A JSON Schema without its texts: types, and names of properties."""
    if isinstance(schema, list):
        return [_bare(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: schema[key] for key in _SAYS_NOTHING if key in schema}
    return {
        key: {name: _bare(one) for name, one in value.items()}
        if key == "properties" and isinstance(value, dict)
        else _bare(value)
        for key, value in kept.items()
    }


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an answer; `arguments` are JSON, or their beginning."""

    name: str
    arguments: str


class TextDelta(NamedTuple):
    text: str


@dataclass(frozen=True, slots=True)
class CallBegin:
    """The call with this number begins."""

    index: int
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """More arguments of the call with this number."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ThoughtDelta:
    text: str


AnswerDelta = TextDelta | ThoughtDelta | CallBegin | ArgumentsDelta


def without_marks(text: str) -> str:
    """Text of a model, which may not hold our marks."""
    return text if text.isascii() else text.translate(_MARKS)


def begun_call(name: str) -> str:
    """The beginning of a call, as part of an answer's text."""
    return f"{CALL}{without_marks(name)}{ARGUMENTS}"


def text_of(deltas: list[AnswerDelta], marks: ThoughtMarks) -> str:
    """The part of an answer's text that `deltas` were read from."""
    text = ""
    for delta in deltas:
        if isinstance(delta, ThoughtDelta):
            text += marks.text_of(delta.text, "")
        else:
            said = begun_call(delta.name) if isinstance(delta, CallBegin) else delta.text
            text += marks.text_of("", said)
    return text


def unfinished_mark(text: str) -> int:
    """How many last characters of `text` are the beginning of a call without its whole name."""
    at = text.rfind(CALL)
    return 0 if at < 0 or ARGUMENTS in text[at:] else len(text) - at


def split_calls(text: str) -> tuple[str, list[Call]]:
    """An answer's text without its thought and its calls, and the calls."""
    content, *calls = split_thought(text)[1].split(CALL)
    parted = (call.partition(ARGUMENTS) for call in calls)
    return content, [Call(name, arguments) for name, _, arguments in parted]


def readable(text: str) -> str:
    """An answer's text for people and classifiers that read it whole."""
    text = text.removeprefix(THOUGHT).replace(ANSWER, "\n\n")
    return text.replace(CALL, "\n").replace(ARGUMENTS, " ")


def storable(text: str) -> str:
    """`text` without what PostgreSQL's texts cannot hold."""
    return text.encode(errors="replace").decode().replace("\x00", "\N{REPLACEMENT CHARACTER}")


def call_id(public_id: str, choice: int, index: int) -> str:
    """The id of a call, the same in every process that tells of it."""
    digest = hashlib.sha256(f"{public_id}/{choice}/{index}".encode()).hexdigest()
    return f"call_{digest[:24]}"


def call_as_openai(call: Call, new_id: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": new_id, "type": "function", "function": function}


class CallReader:
    """Reads one choice's released text. Beginnings of calls must come whole.

    Arguments stay JSON: where personal data was replaced outside of a string, its place is a
    string.
    """

    def __init__(self, so_far: str = "") -> None:
        """
        Args:
            so_far: text that was read in another process.
        """
        self._index = -1
        self._in_string = self._escaped = False
        self._thinks = False
        self.feed(so_far)

    def feed(self, text: str) -> list[AnswerDelta]:
        if self._index < 0 and CALL not in text:
            return self._content(text)
        deltas: list[AnswerDelta] = []
        for number, part in enumerate(text.split(CALL)):
            if number:
                name, _, part = part.partition(ARGUMENTS)
                self._index += 1
                self._in_string = self._escaped = False
                deltas.append(CallBegin(self._index, name))
            if part and self._index < 0:
                deltas += self._content(part)
            elif part:
                deltas.append(ArgumentsDelta(self._index, self._as_json(part)))
        return deltas

    def _content(self, text: str) -> list[AnswerDelta]:
        if not self._thinks and not text.startswith(THOUGHT):
            return [TextDelta(text)] if text else []
        deltas: list[AnswerDelta] = []
        if text.startswith(THOUGHT):
            self._thinks, text = True, text[1:]
        if self._thinks:
            thought, mark, text = text.partition(ANSWER)
            self._thinks = not mark
            deltas += [ThoughtDelta(thought)] if thought else []
        return [*deltas, TextDelta(text)] if text else deltas

    def _as_json(self, text: str) -> str:
        if "removed]" not in text:
            self._follow(text)
            return text
        written, end = "", 0
        for found in _REDACTED.finditer(text):
            before = text[end : found.start()]
            self._follow(before)
            quote = "" if self._in_string else '"'
            written += before + quote + found[0] + quote
            end = found.end()
        self._follow(text[end:])
        return written + text[end:]

    def _follow(self, text: str) -> None:
        """Whether what comes after `text` is inside a string."""
        if self._in_string and not self._escaped and '"' not in text and "\\" not in text:
            return
        for character in text:
            if self._escaped:
                self._escaped = False
            elif character == "\\":
                self._escaped = self._in_string
            elif character == '"':
                self._in_string = not self._in_string


def _strings(value: Any) -> list[str]:
    """Every text in a function's description: names of arguments too."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for item in pair for text in _strings(item)]
    if isinstance(value, list):
        return [text for item in value for text in _strings(item)]
    return []
