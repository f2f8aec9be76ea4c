"""A whole answer, and how its choices ended: in our words, and in OpenAI's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from backend.generation.request import Endpoint
from backend.generation.tools import Call, call_as_openai, call_id
from backend.generation.usage import PredictedTokens, Usage, usage_as_openai
from backend.platform.errors import ParleyError


@dataclass(frozen=True, slots=True)
class CompletionChoice:
    index: int
    text: str
    finish_reason: str
    logprobs: dict[str, Any] | None = None
    tool_calls: tuple[Call, ...] = ()
    thought: str = ""


LOOP = "loop"
"""The finish reason, in rows and messages, of an answer that was ended because it had gone into a
loop. OpenAI's has no such word: its clients get `finish_fields`."""


STOPPED_BY = "stop:"
"""Begins the finish reason of a choice that met a stop sequence, which follows. Rows say `stop`."""


def finish_word(reason: str) -> str:
    """A finish reason without what it says beside."""
    return "stop" if reason.startswith(STOPPED_BY) else reason


def finish_fields(reason: str | None) -> dict[str, Any]:
    """How a choice ended, in OpenAI's words: a loop is `length`, which says that the answer is not
    complete, with the reason beside it in `finish_details`; so is the stop sequence that was
    met."""
    if reason == LOOP:
        return {"finish_reason": "length", "finish_details": {"type": LOOP}}
    if reason is not None and reason.startswith(STOPPED_BY):
        details = {"type": "stop", "stop": reason.removeprefix(STOPPED_BY)}
        return {"finish_reason": "stop", "finish_details": details}
    return {"finish_reason": reason}


def finish_reason_of(choice: Mapping[str, Any]) -> str | None:
    """Our word for how a choice ended: what `finish_fields` made of it, undone."""
    details = choice.get("finish_details")
    if isinstance(details, dict) and details.get("type") == LOOP:
        return LOOP
    reason = choice.get("finish_reason")
    if reason == "stop" and isinstance(details, dict) and isinstance(details.get("stop"), str):
        return f"{STOPPED_BY}{details['stop']}"
    return None if reason is None else str(reason)


@dataclass(frozen=True, slots=True)
class Completion:
    """The whole answer of one generation, for callers that do not stream.

    `error` is set when it was cut short (a timeout, say) after text had been generated: the
    text was delivered and is billed, so it is returned rather than thrown away. `stations`: its
    milliseconds at each, where this process knows them.
    """

    public_id: str
    created: int
    model: str
    endpoint: Endpoint
    choices: list[CompletionChoice]
    usage: Usage
    error: ParleyError | None = None
    service_tier: str = ""
    predicted: PredictedTokens | None = None
    stations: dict[str, float] = field(default_factory=dict)

    def as_openai(self) -> dict[str, Any]:
        """OpenAI's `chat.completion` or `text_completion` object."""
        chat = self.endpoint == "chat"
        body: dict[str, Any] = {
            "id": self.public_id,
            "object": "chat.completion" if chat else "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": [_choice(choice, self.public_id, chat=chat) for choice in self.choices],
            "usage": usage_as_openai(self.usage, self.predicted),
        }
        if chat:
            body["service_tier"] = self.service_tier or "default"
        if self.error is not None:
            body["parley"] = self.error.as_dict()
        return body


def _choice(choice: CompletionChoice, public_id: str, *, chat: bool) -> dict[str, Any]:
    shared = {
        "index": choice.index,
        "logprobs": choice.logprobs,
        **finish_fields(choice.finish_reason),
    }
    if not chat:
        return {**shared, "text": choice.text}
    message: dict[str, Any] = {"role": "assistant", "content": choice.text, "refusal": None}
    if choice.thought:
        message["reasoning_content"] = choice.thought
    if choice.tool_calls:
        message["content"] = choice.text or None
        message["tool_calls"] = [
            call_as_openai(call, call_id(public_id, choice.index, number))
            for number, call in enumerate(choice.tool_calls)
        ]
    return {**shared, "message": message}
