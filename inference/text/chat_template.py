"""Messages to prompt text, by the model's own Jinja template in a sandbox.

Only the template may write special tokens. Where a message spells one (`<|im_end|>`, say),
the text is cut inside it and the segments are tokenized apart, so that the model reads the
characters and never a token that would end the message and begin another's.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NoReturn

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from inference.errors import InvalidRequestError, ModelLoadError
from inference.text.reasoning import reasoning_format_of
from inference.text.tools.formats import format_of
from inference.text.tools.prompt import without_tool_roles

_SWITCHES = ("enable_thinking", "thinking")
"""Variables that say whether the model thinks: Qwen 3 and SmolLM3; DeepSeek V3.1 and Granite."""
_OFF = frozenset({"none", "minimal"})
_NO_PARAMETERS = {"type": "object", "properties": {}}


class _Generation(Extension):
    """`{% generation %}`, which marks an assistant's text for training: its body is rendered."""

    tags = {"generation"}

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class ChatTemplate:
    def __init__(
        self,
        source: str,
        *,
        special_tokens: Iterable[str],
        bos_token: str | None,
        eos_token: str | None,
    ) -> None:
        """`special_tokens` are the texts that the tokenizer reads as control tokens.

        Raises:
            ModelLoadError: `source` is no template.
        """
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation]
        )
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
        try:
            self._template = environment.from_string(source)
        except TemplateSyntaxError as error:
            where = f"line {error.lineno}: {error.message}"
            raise ModelLoadError(f"the chat template cannot be read, {where}") from error
        self._names = {"bos_token": bos_token or "", "eos_token": eos_token or ""}
        longest_first = sorted(special_tokens, key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
        self.shows_tools = True
        self.shows_names = self._shows_names()
        """Whether a message's `name` reaches the model."""
        self.tool_format = format_of(source)
        self.reasoning_format = reasoning_format_of(source)
        self._switch = next((name for name in _SWITCHES if name in source), None)
        self._is_graded = "reasoning_effort" in source
        self.shows_tools = self._shows_tools()
        """Whether tools reach the model; else they are described in a system message."""
        self.takes_parts = self._takes_parts()
        """Whether a message's content may be a list of texts and images."""

    def render(
        self,
        messages: list[dict[str, Any]],
        *,
        add_generation_prompt: bool,
        continue_final_message: bool = False,
        variables: dict[str, Any] | None = None,
        tools: list[dict[str, Any]] | None = None,
    ) -> list[str]:
        """The prompt, in segments to be tokenized apart; joined they are its text.

        There is one segment unless messages or variables spell special tokens. With
        `continue_final_message` the text ends with the last message's own text, so that
        the model goes on with it.

        Raises:
            InvalidRequestError: when the template refuses the messages.
        """
        # The marks are random, so no message can hold one. They are no whitespace, so
        # templates that strip their messages leave them.
        cut, end = (f"\ufdd0{secrets.token_hex(8)}\ufdd1" for _ in range(2))
        if not self.shows_tools:
            messages, tools = without_tool_roles(messages, tools or []), None
        messages = self._cut_special_tokens(messages, cut)
        shown = {"tools": self._cut_special_tokens(tools, cut)} if tools else {}
        if continue_final_message:
            messages[-1]["content"] = _ended(messages[-1]["content"], end)
        try:
            text = self._template.render(
                # Without tools of the request a client may still give the template a `tools`.
                **{"tools": None} | self._cut_special_tokens(variables or {}, cut) | shown,
                **self._names,
                messages=messages,
                add_generation_prompt=add_generation_prompt,
            )
        except RecursionError as error:
            raise InvalidRequestError(
                "it is nested too deeply", param="tools" if tools else "chat_template_kwargs"
            ) from error
        except (TemplateError, TypeError, ValueError) as error:
            raise InvalidRequestError(
                f"the model's chat template refuses these messages: {error}".replace(cut, ""),
                param="messages",
            ) from error
        if continue_final_message:
            text, found, _ = text.rpartition(end)
            if not found:
                raise InvalidRequestError(
                    "the model's chat template does not show the final message, "
                    "so it cannot be continued",
                    param="continue_final_message",
                )
        return text.split(cut)

    def opens_thought(self, segments: list[str]) -> bool:
        """Whether a prompt ends with the beginning of a thought: the answer begins in it."""
        form = self.reasoning_format
        return form is not None and "".join(segments[-1:]).rstrip().endswith(form.begin)

    def effort_variables(self, effort: str | None) -> dict[str, Any]:
        """What the template is told of OpenAI's `reasoning_effort`; nothing without one.

        Raises:
            InvalidRequestError: it has no word for that.
        """
        if effort is None or (effort == "none" and self.reasoning_format is None):
            return {}
        if self._switch is not None:
            return {self._switch: effort not in _OFF}
        if self._is_graded and effort not in _OFF:
            return {"reasoning_effort": effort}
        raise InvalidRequestError(
            f"this model's chat template cannot be asked for {effort!r}", param="reasoning_effort"
        )

    def variables_without_thought(self) -> dict[str, Any]:
        """What keeps the model from thinking, where its template can."""
        return {} if self._switch is None else {self._switch: False}

    def segments_of(self, parts: Iterable[tuple[str, bool]]) -> list[str]:
        """Texts to be tokenized apart, so that none but those that are ours (true) can hold a
        special token."""
        cut = f"\ufdd0{secrets.token_hex(8)}\ufdd1"
        text = "".join(
            part if ours else self._cut_special_tokens(part, cut) for part, ours in parts
        )
        return text.split(cut)

    def _shows_tools(self) -> bool:
        name = f"f{secrets.token_hex(8)}"
        function = {"name": name, "description": "", "parameters": dict(_NO_PARAMETERS)}
        tools = [{"type": "function", "function": function}]
        message = {"role": "user", "content": "hi"}
        try:
            return name in "".join(self.render([message], add_generation_prompt=True, tools=tools))
        except InvalidRequestError:
            return False

    def _takes_parts(self) -> bool:
        text = secrets.token_hex(8)
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        try:
            shown = "".join(self.render([message], add_generation_prompt=True))
        except InvalidRequestError:
            return False
        return text in shown and "'type'" not in shown  # a list that is written as Python has it

    def _shows_names(self) -> bool:
        name = secrets.token_hex(8)
        message = {"role": "user", "name": name, "content": "hi"}
        try:
            return name in "".join(self.render([message], add_generation_prompt=True))
        except InvalidRequestError:
            return False

    def _cut_special_tokens(self, value: Any, mark: str) -> Any:
        """`value` with the mark inside every special token that its strings spell."""
        if isinstance(value, str):
            return self._special.sub(lambda found: found[0][0] + mark + found[0][1:], value)
        if isinstance(value, dict):
            return {
                self._cut_special_tokens(key, mark): self._cut_special_tokens(item, mark)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._cut_special_tokens(item, mark) for item in value]
        return value


def _ended(content: Any, mark: str) -> Any:
    """A message's text, or its parts, with a mark after the last text."""
    if isinstance(content, str):
        return content + mark
    *before, last = content
    if last.get("type") != "text":
        return [*content, {"type": "text", "text": mark}]
    return [*before, {**last, "text": last["text"] + mark}]


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> NoReturn:
    raise TemplateError(message)
