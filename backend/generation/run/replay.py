"""The state of an answer, read back from its events.

Used by a process that takes a generation up, and to answer callers that do not stream: both see
exactly what a reader of the stream saw.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import msgspec
import orjson

from backend.generation.completion import finish_reason_of
from backend.generation.request import DONE
from backend.generation.run.output import ResumedChoice, merge_logprobs
from backend.generation.thoughts import ThoughtMarks
from backend.generation.tools import begun_call
from backend.generation.usage import Usage, total_of, usage_of_answer

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[int])


_OF_OUTPUT = {"output_tokens", "reasoning_tokens"}
_PROMPT_COUNTS = tuple(name for name in Usage.__struct_fields__ if name not in _OF_OUTPUT)
_prompt_counts_of = attrgetter(*_PROMPT_COUNTS)


class EventMeta(msgspec.Struct, frozen=True):
    """What an event does not tell its readers, and a process taking over must know.

    Attributes:
        choice: the choice that the event belongs to.
        tokens: of that choice, delivered up to and with this event.
        prompt: the tokens of the prompt that the choice answers, and with them
            `cached_output_tokens`: how many of its own were computed for another generation.
    """

    choice: int = 0
    tokens: int = 0
    prompt: Usage = Usage()

    def encoded(self) -> bytes:
        """A list of numbers. A process of the version before reads those that it knows: a new
        kind of tokens comes last."""
        return _ENCODER.encode((self.choice, self.tokens, *_prompt_counts_of(self.prompt)))

    @classmethod
    def decoded(cls, data: bytes) -> "EventMeta":
        """Raises msgspec.DecodeError."""
        choice, tokens, *counts = _DECODER.decode(data)
        return cls(choice, tokens, Usage(**dict(zip(_PROMPT_COUNTS, counts, strict=False))))


@dataclass(slots=True)
class ReplayedChoice:
    texts: list[str] = field(default_factory=list)
    logprobs: list[dict[str, Any]] = field(default_factory=list)
    tokens: int = 0
    reasoning_tokens: int = 0
    begun: bool = False
    finish_reason: str | None = None
    marks: ThoughtMarks = field(default_factory=ThoughtMarks)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def merged_logprobs(self) -> dict[str, Any] | None:
        return merge_logprobs(self.logprobs) if self.logprobs else None

    def resumed(self, echo: str) -> ResumedChoice:
        """
        Args:
            echo: what stands before its answer, see GenerationRequest.
        """
        text = self.text.removeprefix(echo)
        return ResumedChoice(
            text, self.tokens, self.begun, self.finish_reason, self.reasoning_tokens
        )


@dataclass(slots=True)
class Replay:
    """Everything that an answer's events say.

    Attributes:
        last_seq: of the last event; 0 without any.
        ended: `[DONE]` is among them.
        prompts: the tokens of each prompt, as the metadata have them.
    """

    choices: list[ReplayedChoice]
    last_seq: int = 0
    ended: bool = False
    error: dict[str, Any] | None = None
    prompts: list[Usage] = field(default_factory=lambda: [Usage()])

    @property
    def usage(self) -> Usage:
        output = sum(choice.tokens for choice in self.choices)
        thought = sum(choice.reasoning_tokens for choice in self.choices)
        return usage_of_answer(total_of(self.prompts), output_tokens=output, thought_tokens=thought)


def replay(events: Iterable[tuple[bytes, EventMeta]], *, choices: int, groups: int = 1) -> Replay:
    """Read the events of one answer, from the first on.

    Args:
        choices: how many there are, where that is known; those without an event count too.
        groups: how many prompts they answer, each as many.
    """
    state = Replay([ReplayedChoice() for _ in range(choices)], prompts=[Usage()] * groups)
    for data, meta in events:
        state.last_seq += 1
        if data == DONE:
            state.ended = True
            continue
        if meta.prompt.input_tokens:
            state.prompts[meta.choice * groups // choices] = meta.prompt
        chunk = orjson.loads(data)
        if "error" in chunk:
            state.error = chunk["error"]
        for part in chunk.get("choices", ()):
            while len(state.choices) <= part["index"]:
                state.choices.append(ReplayedChoice())
            _take(state.choices[part["index"]], part, meta)
    return state


def _take(choice: ReplayedChoice, part: dict[str, Any], meta: EventMeta) -> None:
    choice.begun = True
    choice.tokens = max(choice.tokens, meta.tokens)
    delta = part.get("delta") or {}
    thought = delta.get("reasoning_content") or ""
    if thought:
        choice.reasoning_tokens = max(choice.reasoning_tokens, meta.tokens)
    said = _text_of(delta) if "delta" in part else part.get("text") or ""
    if text := choice.marks.text_of(thought, said):
        choice.texts.append(text)
    if part.get("logprobs"):
        choice.logprobs.append(part["logprobs"])
    if part.get("finish_reason"):
        choice.finish_reason = finish_reason_of(part)


def _text_of(delta: dict[str, Any]) -> str:
    """The text that `delta` was made of, see backend/generation/tools.py."""
    text: str = delta.get("content") or ""
    for call in delta.get("tool_calls", ()):
        function = call["function"]
        text += begun_call(function["name"]) if "name" in function else ""
        text += function["arguments"]
    return text
