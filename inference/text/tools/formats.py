"""How families of models write tool calls, and which family a chat template is of.

Sources: the chat templates of the models named, and where they differ vLLM's tool parsers of the
same names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True)
class ToolCall:
    """A call as a client sees it; `arguments` are JSON, or their beginning."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True)
class ToolFormat:
    """Text around calls: `begin`, then `open` NAME `middle` ARGUMENTS `close` with `separator`
    between two, then `end`.

    Attributes:
        trigger: what begins calls after free text: from it on the grammar holds the model. The
            beginning of `begin + open`.
        anywhere: whether calls may follow text; else an answer is either.
        thought: the beginning and the end of one that may stand before the answer as a message of
            its own; the grammar of the others takes a thought as text.
        preface: what stands before an answer that is text.
        preamble: the beginning and the end of text before a call, a message of its own too.
        short_ids: the template wants ids of nine letters and digits.
        reads_bare: its small models also write calls as JSON without the marks (`bare.py`).
    """

    name: str
    begin: str
    open: str
    middle: str
    close: str
    separator: str
    end: str
    trigger: str
    anywhere: bool = True
    thought: tuple[str, str] | None = None
    preface: str = ""
    preamble: tuple[str, str] | None = None
    is_python: bool = False
    one_call: bool = False
    short_ids: bool = False
    reads_bare: bool = False

    @property
    def markup(self) -> tuple[str, ...]:
        """Its texts, which may be special tokens."""
        call = (self.begin, self.open, self.middle, self.close, self.end)
        return (*(self.thought or ()), self.preface, *(self.preamble or ()), *call)

    def text_of(self, content: str, calls: list[ToolCall]) -> list[tuple[str, bool]]:
        """The text so far of an answer that was cut off, in parts: text, and whether it is the
        format's own (which may hold special tokens) or what was said in it.

        The last call is left open: what closes it comes next, or more of its arguments. Python's
        calls are read whole, so they are whole.
        """
        if not calls:
            return [(content, False)]
        parts = [(content, False), (("\n" if content else "") + self.begin, True)]
        if self.preamble is not None and content:
            begin, end = self.preamble
            parts = [(begin, True), (content, False), (end, True), (self.begin, True)]
        for index, call in enumerate(calls):
            if self.is_python:
                written = _as_python(call) + self.close
                parts += [((self.separator if index else ""), True), (written, False)]
                continue
            parts.append(((self.close + self.separator if index else "") + self.open, True))
            parts += [(call.name, False), (self.middle, True), (call.arguments, False)]
        return [part for part in parts if part[0]]

    def id_for_template(self, call_id: str) -> str:
        return sha256(call_id.encode()).hexdigest()[:9] if self.short_ids else call_id


def _mark(words: str) -> str:
    """A special token of DeepSeek's: between full-width bars, words joined by U+2581."""
    return "<\uff5c" + words.replace(" ", "\u2581") + "\uff5c>"


HERMES = ToolFormat(
    "hermes",
    begin="",
    open='<tool_call>\n{"name": "',
    middle='", "arguments": ',
    close="}\n</tool_call>",
    separator="\n",
    end="",
    trigger="<tool_call>",
    reads_bare=True,
)
"""Hermes 2 Pro, Qwen 2.5 and 3; and what models are taught whose template knows no tools."""

LLAMA_JSON = ToolFormat(
    "llama3_json",
    begin="",
    open='{"name": "',
    middle='", "parameters": ',
    close="}",
    separator="; ",
    end="",
    trigger='{"name"',
    anywhere=False,
)
"""Llama 3.1 and 3.2."""

PYTHONIC = ToolFormat(
    "pythonic",
    begin="[",
    open="",
    middle="(",
    close=")",
    separator=", ",
    end="]",
    trigger="[",
    anywhere=False,
    is_python=True,
)
"""Llama 4, and Llama 3.2 with its zero-shot prompt."""

MISTRAL_LIST = ToolFormat(
    "mistral",
    begin="[TOOL_CALLS][",
    open='{"name": "',
    middle='", "arguments": ',
    close="}",
    separator=", ",
    end="]",
    trigger="[TOOL_CALLS]",
    short_ids=True,
)
"""Mistral 7B v0.3 to Small 3."""

MISTRAL_ARGS = ToolFormat(
    "mistral_args",
    begin="",
    open="[TOOL_CALLS]",
    middle="[ARGS]",
    close="",
    separator="",
    end="",
    trigger="[TOOL_CALLS]",
    short_ids=True,
)
"""Mistral's tokenizers from version 11 on."""

HARMONY = ToolFormat(
    "harmony",
    begin="",
    open="<|channel|>commentary to=functions.",
    middle=" <|constrain|>json<|message|>",
    close="<|call|>",
    separator="<|start|>assistant",
    end="",
    trigger="<|channel|>commentary to=",
    anywhere=False,
    thought=("<|channel|>analysis<|message|>", "<|end|><|start|>assistant"),
    preface="<|channel|>final<|message|>",
    preamble=("<|channel|>commentary<|message|>", "<|end|><|start|>assistant"),
    one_call=True,
)
"""gpt-oss, which ends its turn with each call. Text before one stands in the channel of calls,
without the name of a function, and is the user's to read (OpenAI's cookbook on the format)."""

DEEPSEEK_V3 = ToolFormat(
    "deepseek_v3",
    begin=_mark("tool calls begin"),
    open=f"{_mark('tool call begin')}function{_mark('tool sep')}",
    middle="\n```json\n",
    close=f"\n```{_mark('tool call end')}",
    separator="\n",
    end=_mark("tool calls end"),
    trigger=_mark("tool calls begin"),
)
"""DeepSeek V3 and R1."""

DEEPSEEK_V31 = ToolFormat(
    "deepseek_v31",
    begin=_mark("tool calls begin"),
    open=_mark("tool call begin"),
    middle=_mark("tool sep"),
    close=_mark("tool call end"),
    separator="",
    end=_mark("tool calls end"),
    trigger=_mark("tool calls begin"),
)
"""DeepSeek V3.1."""

FORMATS: list[tuple[ToolFormat, Callable[[str], bool]]] = [
    (DEEPSEEK_V3, lambda source: _mark("tool calls begin") in source and "```json" in source),
    (DEEPSEEK_V31, lambda source: _mark("tool calls begin") in source),
    (MISTRAL_ARGS, lambda source: "[TOOL_CALLS]" in source and "[ARGS]" in source),
    (MISTRAL_LIST, lambda source: "[TOOL_CALLS]" in source),
    (HARMONY, lambda source: "<|channel|>" in source and "functions." in source),
    (HERMES, lambda source: "<tool_call>" in source),
    (PYTHONIC, lambda source: "func_name1(params_name1" in source),
    (LLAMA_JSON, lambda source: '"parameters":' in source),
]
"""Each family, and what tells it by its template; the first that fits."""


def _as_python(call: ToolCall) -> str:
    arguments = json.loads(call.arguments or "{}")
    values = (f"{key}={json.dumps(value)}" for key, value in arguments.items())
    return f"{call.name}({', '.join(values)}"


def format_of(source: str) -> ToolFormat:
    """The format that a chat template teaches; HERMES where it teaches none that we know."""
    return next((known for known, fits in FORMATS if fits(source)), HERMES)
