"""The state of an answer, read back from its events.

Used by a process that takes a generation up, and to answer callers that do not stream: both see
exactly what a reader of the stream saw.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import orjson

from backend.generation.request import DONE, Usage
from backend.generation.run.output import ResumedChoice, merge_logprobs


class EventMeta(msgspec.Struct, array_like=True, frozen=True):
    """What an event does not tell its readers, and a process taking over must know.

    Attributes:
        choice: the choice that the event belongs to.
        tokens: of that choice, delivered up to and with this event.
    """

    choice: int = 0
    tokens: int = 0
    input_tokens: int = 0
    cached_input_tokens: int = 0


@dataclass(slots=True)
class ReplayedChoice:
    texts: list[str] = field(default_factory=list)
    logprobs: list[dict[str, Any]] = field(default_factory=list)
    tokens: int = 0
    opened: bool = False
    finish_reason: str | None = None

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def merged_logprobs(self) -> dict[str, Any] | None:
        return merge_logprobs(self.logprobs) if self.logprobs else None

    def resumed(self) -> ResumedChoice:
        return ResumedChoice(self.text, self.tokens, self.opened, self.finish_reason)


@dataclass(slots=True)
class Replay:
    """Everything that an answer's events say.

    Attributes:
        last_seq: of the last event; 0 without any.
        ended: `[DONE]` is among them.
        usage: of the usage chunk, where there is one; `input_tokens` else from the metadata.
    """

    choices: list[ReplayedChoice]
    last_seq: int = 0
    ended: bool = False
    error: dict[str, Any] | None = None
    input_tokens: int = 0
    cached_input_tokens: int = 0

    @property
    def usage(self) -> Usage:
        output = sum(choice.tokens for choice in self.choices)
        return Usage(self.input_tokens, self.cached_input_tokens, output)


def replay(events: Iterable[tuple[bytes, EventMeta]], *, choices: int) -> Replay:
    """Read the events of one answer, from the first on.

    Args:
        choices: how many there are, where that is known; those without an event count too.
    """
    state = Replay([ReplayedChoice() for _ in range(choices)])
    for data, meta in events:
        state.last_seq += 1
        if data == DONE:
            state.ended = True
            continue
        state.input_tokens = max(state.input_tokens, meta.input_tokens)
        state.cached_input_tokens = max(state.cached_input_tokens, meta.cached_input_tokens)
        chunk = orjson.loads(data)
        if "error" in chunk:
            state.error = chunk["error"]
        for part in chunk.get("choices", ()):
            while len(state.choices) <= part["index"]:
                state.choices.append(ReplayedChoice())
            _take(state.choices[part["index"]], part, meta)
    return state


def _take(choice: ReplayedChoice, part: dict[str, Any], meta: EventMeta) -> None:
    choice.opened = True
    choice.tokens = max(choice.tokens, meta.tokens)
    text = part["delta"].get("content") if "delta" in part else part.get("text")
    if text:
        choice.texts.append(text)
    if part.get("logprobs"):
        choice.logprobs.append(part["logprobs"])
    if part.get("finish_reason"):
        choice.finish_reason = part["finish_reason"]
