"""Tools of a chat: what may be called, the grammar that holds it, deltas with calls.

`ToolUse.of(body, …)` says what a body asks for; None where it names no tool that may be called.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from llguidance import LLMatcher

from inference.errors import InvalidRequestError
from inference.server.schemas import ChatRequest
from inference.server.structured import MAX_GRAMMAR_BYTES, ResponseFormat
from inference.server.tool_schemas import FunctionTool, ToolChoice
from inference.text.chat_template import ChatTemplate
from inference.text.tokenizer import TextTokenizer
from inference.text.tools.formats import ToolCall, ToolFormat
from inference.text.tools.grammar import (
    CallRules,
    Tool,
    arguments_schema,
    bare_names,
    call_grammar,
)
from inference.text.tools.parser import parser_of
from inference.text.tools.parts import Arguments, CallBegins, Content, Part
from inference.text.tools.repeats import CallsSoFar, RepeatWatch


@dataclass(frozen=True)
class Answered:
    """What an answer that is continued has already; the last call may be unfinished."""

    content: str = ""
    calls: list[ToolCall] = field(default_factory=list)


def shown_tools(given: list[FunctionTool]) -> list[dict[str, Any]]:
    """Tools as templates take them."""
    try:
        shown: list[dict[str, Any]] = [msgspec.to_builtins(one) for one in given]
    except RecursionError as error:
        raise InvalidRequestError("a schema is nested too deeply", param="tools") from error
    for one in shown:
        one["function"] = {k: v for k, v in one["function"].items() if v is not None}
    return shown


@dataclass(frozen=True)
class ToolUse:
    """What one body may call.

    Attributes:
        shown: to the model, allowed or not, as templates take them.
    """

    form: ToolFormat
    rules: CallRules
    shown: list[dict[str, Any]]

    @classmethod
    def of(cls, body: ChatRequest, template: ChatTemplate) -> ToolUse | None:
        """Raises InvalidRequestError: naming the field that contradicts another."""
        given = body.tools or []
        _check_names(given)
        mode, allowed = _choice(body.tool_choice, [one.function.name for one in given])
        if not given or mode == "none":
            return None
        tools = [
            Tool(one.function.name, one.function.parameters, bool(one.function.strict))
            for one in given
            if one.function.name in allowed
        ]
        rules = CallRules(
            tools,
            text=mode == "auto",
            many=body.parallel_tool_calls is not False and not _is_named(body.tool_choice),
            answer=_schema_of(body.response_format),
        )
        return cls(template.tool_format, rules, shown_tools(given))

    def bare_names(self, tokenizer: TextTokenizer) -> tuple[str, ...]:
        """The functions whose calls are read without the family's marks too."""
        return bare_names(self.form, self.rules, tokenizer.special_tokens)

    @property
    def ends_on_repeat(self) -> bool:
        """True for answers that must be calls and may be many: they end at a repeated call."""
        return self.rules.many and not self.rules.text

    def repeat_watch(self, tokenizer: TextTokenizer, so_far: Answered) -> RepeatWatch | None:
        if not self.ends_on_repeat:
            return None
        written = [text for text, _ in self.form.text_of(so_far.content, so_far.calls)]
        return RepeatWatch(parser_of(self.form, self.bare_names(tokenizer)), written)

    def grammar(self, tokenizer: TextTokenizer) -> str:
        """The grammar of the answer. It may take some tenths of a second.

        Raises:
            InvalidRequestError: naming the tool whose strict schema no grammar can hold. One
                that is not strict is held to any object then.
        """
        schemas = {tool.name: arguments_schema(tool) for tool in self.rules.tools}
        grammar = self._grammar(tokenizer, schemas)
        if LLMatcher.validate_grammar(grammar):
            for index, tool in enumerate(self.rules.tools):
                schemas[tool.name] = _held(index, tool)
            grammar = self._grammar(tokenizer, schemas)
            if problem := LLMatcher.validate_grammar(grammar):
                raise InvalidRequestError(f"they cannot be followed: {problem}", param="tools")
        return grammar

    def shown_token_ids(self, tokenizer: TextTokenizer) -> frozenset[int]:
        """The special tokens that mark calls: part of the text that is parsed."""
        special = tokenizer.special_tokens
        marks = [token for token in special if any(token in text for text in self.form.markup)]
        ids = (tokenizer.special_id(token) for token in marks)
        return frozenset(one for one in ids if one is not None)

    def _grammar(self, tokenizer: TextTokenizer, schemas: dict[str, dict[str, Any]]) -> str:
        try:
            lark = call_grammar(
                self.form, self.rules, tokenizer.special_id, tokenizer.special_tokens, schemas
            )
        except RecursionError as error:
            raise InvalidRequestError("a schema is nested too deeply", param="tools") from error
        grammar = LLMatcher.grammar_from_lark(lark)
        if len(grammar.encode()) > MAX_GRAMMAR_BYTES:
            raise InvalidRequestError(
                f"as a grammar they are larger than {MAX_GRAMMAR_BYTES} bytes", param="tools"
            )
        return grammar


def _held(index: int, tool: Tool) -> dict[str, Any]:
    schema = arguments_schema(tool)
    try:
        problem = LLMatcher.validate_grammar(LLMatcher.grammar_from_json_schema(schema))
    except (ValueError, RecursionError) as error:
        problem = str(error)
    if problem and tool.strict:
        raise InvalidRequestError(
            f"the schema of the strict function {tool.name!r} cannot be followed: {problem}",
            param=f"tools[{index}].function.parameters",
        )
    return arguments_schema(tool, loose=True) if problem else schema


def _check_names(given: list[FunctionTool]) -> None:
    seen: set[str] = set()
    for index, one in enumerate(given):
        if one.function.name in seen:
            raise InvalidRequestError(
                f"there are two functions {one.function.name!r}",
                param=f"tools[{index}].function.name",
            )
        seen.add(one.function.name)
        kind = (one.function.parameters or {}).get("type", "object")
        if kind != "object":
            raise InvalidRequestError(
                f"the parameters of a function are an object, not {kind!r}",
                param=f"tools[{index}].function.parameters",
            )


def _choice(choice: str | ToolChoice | None, names: list[str]) -> tuple[str, set[str]]:
    """How calls are asked for (`auto`, `none`, `required`), and which functions they may be."""
    if choice is None or choice == "auto":
        return "auto", set(names)
    if choice == "none":
        return "none", set()
    if not names:
        raise InvalidRequestError("it needs tools", param="tool_choice")
    if isinstance(choice, str):
        return choice, set(names)
    mode, wanted = "required", [choice.function.name] if choice.function else []
    if choice.type == "allowed_tools" and choice.allowed_tools is not None:
        mode = choice.allowed_tools.mode
        wanted = [one.function.name for one in choice.allowed_tools.tools]
    if not wanted:
        raise InvalidRequestError(f"it lacks {choice.type!r}", param="tool_choice")
    for name in wanted:
        if name not in names:
            raise InvalidRequestError(
                f"{name!r} is none of the functions in tools", param="tool_choice"
            )
    return mode, set(wanted)


def _is_named(choice: str | ToolChoice | None) -> bool:
    return isinstance(choice, ToolChoice) and choice.type == "function"


def _schema_of(answer: ResponseFormat | None) -> dict[str, Any] | None:
    if answer is None or answer.type == "text":
        return None
    return answer.json_schema.schema if answer.json_schema else {"type": "object"}


class DeltaWriter(Protocol):
    """One choice's text to OpenAI's `delta` objects.

    Attributes:
        begun: calls of the answer that this one continues.
        is_thinking: what comes next is a thought.
    """

    begun: list[ToolCall]

    @property
    def is_thinking(self) -> bool: ...

    def feed(self, text: str) -> list[dict[str, Any]]: ...

    def finish(self) -> list[dict[str, Any]]: ...

    @property
    def stop_reason(self) -> str:
        """OpenAI's `finish_reason` of an answer that is complete."""


class TextDeltas:
    """Without tools all text is content."""

    is_thinking = False

    def __init__(self) -> None:
        self.begun: list[ToolCall] = []

    def feed(self, text: str) -> list[dict[str, Any]]:
        return [{"content": text}] if text else []

    def finish(self) -> list[dict[str, Any]]:
        return []

    @property
    def stop_reason(self) -> str:
        return "stop"


class CallDeltas:
    """Text and calls, by the model's format."""

    is_thinking = False

    def __init__(
        self,
        form: ToolFormat,
        new_id: str,
        so_far: Answered,
        bare_names: Sequence[str] = (),
        *,
        ends_on_repeat: bool = False,
    ) -> None:
        """
        Args:
            ends_on_repeat: the answer ends with a call that was made before, which is not sent.
            bare_names: functions whose calls are read without the format's marks too.
            new_id: calls are named by it and their number.
            so_far: what the answer has already, where this continues one; it is not sent again.
        """
        self.begun = so_far.calls
        self._parser = parser_of(form, bare_names)
        self._new_id = new_id
        self._made = CallsSoFar()
        self._held: list[dict[str, Any]] = []
        """Deltas of a call that may become one that was made before."""
        known = 0
        for text, _ in form.text_of(so_far.content, so_far.calls):
            for part in self._parser.feed(text):
                self._made.take(part)
                known += len(part.text) if isinstance(part, Content) else 0
        self._already_sent = len(so_far.content) - known
        self._ends_on_repeat = ends_on_repeat

    def feed(self, text: str) -> list[dict[str, Any]]:
        return self._deltas(self._parser.feed(text))

    def finish(self) -> list[dict[str, Any]]:
        held = [] if self._made.repeats else self._held
        return held + self._deltas(self._parser.finish())

    @property
    def stop_reason(self) -> str:
        return "tool_calls" if self._parser.calls else "stop"

    def _deltas(self, parts: list[Part]) -> list[dict[str, Any]]:
        calls = self._parser.calls - sum(isinstance(part, CallBegins) for part in parts)
        deltas: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, Content):
                text = part.text[self._already_sent :]
                self._already_sent -= len(part.text) - len(text)
                deltas += [{"content": text}] if text else []
                continue
            calls += isinstance(part, CallBegins)
            self._made.take(part)
            was_sent = calls <= len(self.begun)  # its beginning; arguments of the last may follow
            if not (was_sent and isinstance(part, CallBegins)):
                self._held.append({"tool_calls": [self._call(part, calls - 1)]})
            if was_sent or not (self._ends_on_repeat and self._made.may_repeat):
                deltas += self._held
                self._held = []
        return deltas

    def _call(self, part: CallBegins | Arguments, index: int) -> dict[str, Any]:
        if isinstance(part, Arguments):
            return {"index": index, "function": {"arguments": part.text}}
        self._already_sent = 0  # white space before a call is sent by nobody
        return {
            "index": index,
            "id": f"call_{self._new_id}_{index}",
            "type": "function",
            "function": {"name": part.name, "arguments": ""},
        }


class WholeAnswer:
    """Puts one choice's deltas together. A call that went on is delivered whole."""

    def __init__(self, begun: list[ToolCall]) -> None:
        self._text = self._thought = ""
        self._calls: list[dict[str, Any]] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in begun[-1:]
        ]

    def take(self, delta: dict[str, Any]) -> None:
        self._text += delta.get("content", "")
        self._thought += delta.get("reasoning_content", "")
        for call in delta.get("tool_calls", ()):
            if "id" in call:
                self._calls.append({**call, "function": dict(call["function"])})
            else:
                self._calls[-1]["function"]["arguments"] += call["function"]["arguments"]

    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self._text}
        if self._thought:
            message["reasoning_content"] = self._thought
        if not self._calls:
            return message
        calls = [{k: v for k, v in call.items() if k != "index"} for call in self._calls]
        return {**message, "content": self._text or None, "tool_calls": calls}
