"""An answer as Anthropic's message: its object, and its events.

`message_start`; of each block `content_block_start`, its deltas, `content_block_stop`; then
`message_delta` with the reason and the usage, and `message_stop`. What is sent is a function of the
chunks alone, so a reader who comes back gets the same.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from backend.api.error_shapes import anthropic_error
from backend.api.generations import Shape
from backend.api.sse import Wire
from backend.generation.completion import STOPPED_BY, Completion, finish_reason_of, finish_word
from backend.generation.request import DONE, Event, public_id
from backend.generation.tools import call_id
from backend.generation.usage import Usage
from backend.platform.errors import ParleyError

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "loop": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
    "cancelled": "end_turn",
}


def message_id(generation_id: UUID) -> str:
    return f"msg_{generation_id.hex}"


def usage_object(usage: Usage) -> dict[str, Any]:
    """Anthropic's `input_tokens` are those that no cache had."""
    return {
        "input_tokens": usage.input_tokens - usage.cached_input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached_input_tokens,
        "output_tokens": usage.output_tokens,
        "service_tier": "standard",
    }


class _Blocks:
    """Turns the chunks of one generation, from the first on, into events."""

    def __init__(self, generation_id: UUID, model: str, stops: Sequence[str]) -> None:
        self._stops = stops
        self._id = generation_id
        self._model = model
        self._sequence = 0
        self._block = -1
        self._is_open, self._kind = False, ""
        self._calls = 0
        self._ended = {"stop_reason": "end_turn", "stop_sequence": None}
        self._usage = Usage()
        self._error: dict[str, Any] | None = None

    def begin(self) -> list[Event]:
        message = message_object(self._id, self._model, [], _ended(None, ()), Usage())
        return [self._event("message_start", message=message)]

    def feed(self, event: Event) -> list[Event]:
        if event.data == DONE:
            return self._end()
        chunk = orjson.loads(event.data)
        if "error" in chunk:
            self._error = chunk["error"]
        if chunk.get("usage"):
            self._usage = _usage(chunk["usage"])
        events: list[Event] = []
        for choice in chunk.get("choices", ()):
            if choice.get("finish_reason"):
                self._ended = _ended(finish_reason_of(choice), self._stops)
            delta = choice["delta"]
            if delta.get("reasoning_content"):
                events += self._said("thinking", delta["reasoning_content"])
            if delta.get("content"):
                events += self._said("text", delta["content"])
            for call in delta.get("tool_calls", ()):
                events += self._call(call["function"])
        return events

    def _said(self, kind: str, text: str) -> list[Event]:
        """More of a block of text, or of thought."""
        events: list[Event] = []
        if not (self._is_open and self._kind == kind):
            block = thinking_block("") if kind == "thinking" else {"type": "text", "text": ""}
            events = self._start(block)
        return [*events, self._delta({"type": f"{kind}_delta", kind: text})]

    def _call(self, function: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        if "name" in function:
            block = _tool_use(self._id, self._calls, function["name"], {})
            events = self._start(block)
            self._calls += 1
        if function["arguments"]:
            delta = {"type": "input_json_delta", "partial_json": function["arguments"]}
            events.append(self._delta(delta))
        return events

    def _start(self, block: dict[str, Any]) -> list[Event]:
        events = self._stop()
        self._block += 1
        self._is_open, self._kind = True, block["type"]
        begun = self._event("content_block_start", index=self._block, content_block=block)
        return [*events, begun]

    def _delta(self, delta: dict[str, Any]) -> Event:
        return self._event("content_block_delta", index=self._block, delta=delta)

    def _stop(self) -> list[Event]:
        if not self._is_open:
            return []
        self._is_open = False
        return [self._event("content_block_stop", index=self._block)]

    def _end(self) -> list[Event]:
        if self._error is not None:
            error = ParleyError(str(self._error.get("message") or ""))
            return [self._event("error", **{"error": anthropic_error(error)["error"]})]
        events = self._stop()
        usage = usage_object(self._usage)
        usage.pop("service_tier")
        events.append(self._event("message_delta", delta=self._ended, usage=usage))
        return [*events, self._event("message_stop")]

    def _event(self, kind: str, **fields: Any) -> Event:
        self._sequence += 1
        return Event(self._sequence, orjson.dumps({"type": kind, **fields}))


class MessageShape(Shape):
    """Anthropic's message.

    Args:
        stops: the request's stop sequences; a model may have others of its own.
    """

    def __init__(self, model: str, stops: Sequence[str] = ()) -> None:
        self._model = model
        self._stops = stops

    async def events(
        self, generation_id: UUID, created: datetime, source: AsyncGenerator[Event]
    ) -> AsyncGenerator[Event]:
        made = _Blocks(generation_id, self._model, self._stops)
        async with aclosing(source) as chunks:
            for event in made.begin():
                yield event
            async for chunk in chunks:
                for event in made.feed(chunk):
                    yield event

    def whole(self, generation_id: UUID, completion: Completion) -> dict[str, Any]:
        [choice] = completion.choices
        content: list[dict[str, Any]] = []
        if choice.thought:
            content.append(thinking_block(choice.thought))
        if choice.text:
            content.append({"type": "text", "text": choice.text})
        for number, call in enumerate(choice.tool_calls):
            content.append(_tool_use(generation_id, number, call.name, _input(call.arguments)))
        ended = _ended(choice.finish_reason, self._stops)
        return message_object(generation_id, completion.model, content, ended, completion.usage)


def _ended(reason: str | None, stops: Sequence[str]) -> dict[str, str | None]:
    """`stop_reason` and `stop_sequence`; both null while it has not ended."""
    if reason is None:
        return {"stop_reason": None, "stop_sequence": None}
    met = reason.removeprefix(STOPPED_BY) if reason.startswith(STOPPED_BY) else None
    if met is not None and met in stops:
        return {"stop_reason": "stop_sequence", "stop_sequence": met}
    word = _STOP_REASONS.get(finish_word(reason), "end_turn")
    return {"stop_reason": word, "stop_sequence": None}


def thinking_block(thought: str) -> dict[str, Any]:
    """Not signed: nobody reads it again."""
    return {"type": "thinking", "thinking": thought, "signature": ""}


def message_object(
    generation_id: UUID,
    model: str,
    content: list[dict[str, Any]],
    ended: dict[str, str | None],
    usage: Usage,
) -> dict[str, Any]:
    return {
        "id": message_id(generation_id),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        **ended,
        "usage": usage_object(usage),
    }


def _tool_use(generation_id: UUID, number: int, name: str, given: Any) -> dict[str, Any]:
    new_id = call_id(public_id(generation_id, "chat"), 0, number)
    return {"type": "tool_use", "id": new_id, "name": name, "input": given}


def _input(arguments: str) -> Any:
    """The arguments of a call; nothing of one that was cut short."""
    try:
        return orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return {}


def _usage(reported: dict[str, Any]) -> Usage:
    cached = (reported.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(reported["prompt_tokens"], cached, reported["completion_tokens"])


def _kind(event: Event) -> str:
    return str(orjson.loads(event.data)["type"])


def _encode(event: Event) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (_kind(event).encode(), event.data)


def _encode_error(error: ParleyError) -> bytes:
    return b"event: error\ndata: %s\n\n" % orjson.dumps(anthropic_error(error))


MessageShape.wire = Wire(
    _encode, _encode_error, lambda event: _kind(event) in {"message_stop", "error"}
)
