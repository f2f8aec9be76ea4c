"""The chunks of a chat as the events of a response.

In OpenAI's order: `response.created`, `response.in_progress`; of each output item `.added`, its
deltas, `.done`; `response.completed`, `.incomplete` or `.failed` last. What is sent is a function
of the chunks alone, so a reader who comes back gets the same events under the same numbers.

Source: OpenAI API reference, "Responses: streaming events".
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson

from backend.api.responses.items import (
    call_item,
    message_item,
    output_items,
    reasoning_item,
    text_part,
    thought_part,
)
from backend.api.sse import Wire
from backend.generation.request import DONE, Event
from backend.generation.thoughts import ThoughtMarks
from backend.generation.tools import begun_call
from backend.generation.usage import Usage
from backend.platform.errors import ParleyError

Respond = Callable[..., dict[str, Any]]
"""The response object with the given `status`, `output`, `usage`, `error`, `incomplete`,
`model`."""


class ResponseEvents:
    """Turns the events of one generation, from the first on, into a response's."""

    def __init__(self, generation_id: UUID, respond: Respond) -> None:
        self._id = generation_id
        self._respond = respond
        self._sequence = 0
        self._text = self._thought = self._model = ""
        self._logprobs: list[Any] = []
        self._calls: list[tuple[str, str]] = []
        self._open: str | None = None
        self._outputs = 0
        self._finish_reason: str | None = None
        self._usage: Usage | None = None
        self._error: dict[str, Any] | None = None

    def begin(self) -> list[Event]:
        """Before any chunk."""
        return [
            self._event("response.created", response=self._respond(status="in_progress")),
            self._event("response.in_progress", response=self._respond(status="in_progress")),
        ]

    def feed(self, event: Event) -> list[Event]:
        if event.data == DONE:
            return self._end()
        chunk = orjson.loads(event.data)
        self._model = chunk.get("model") or self._model
        if "error" in chunk:
            self._error = chunk["error"]
        if chunk.get("usage"):
            self._usage = _usage(chunk["usage"])
        events: list[Event] = []
        for choice in chunk.get("choices", ()):
            self._finish_reason = choice.get("finish_reason") or self._finish_reason
            delta = choice["delta"]
            if delta.get("reasoning_content"):
                events += self._more_thought(delta["reasoning_content"])
            if delta.get("content"):
                events += self._more_text(delta["content"], choice.get("logprobs"))
            for call in delta.get("tool_calls", ()):
                events += self._more_of_call(call["function"])
        return events

    def _more_thought(self, text: str) -> list[Event]:
        events: list[Event] = []
        if self._open is None:
            self._open = "reasoning"
            item = reasoning_item(self._id, None, "in_progress")
            events = [
                self._event("response.output_item.added", output_index=0, item=item),
                self._event("response.content_part.added", **self._place(), part=thought_part("")),
            ]
        self._thought += text
        return [*events, self._event("response.reasoning_text.delta", **self._place(), delta=text)]

    def _more_text(self, text: str, logprobs: dict[str, Any] | None) -> list[Event]:
        events: list[Event] = []
        if self._open != "message":
            events = self._close("completed")
            self._open = "message"
            events += [
                self._event(
                    "response.output_item.added",
                    output_index=self._outputs,
                    item=message_item(self._id, None, "in_progress"),
                ),
                self._event("response.content_part.added", **self._place(), part=text_part("")),
            ]
        self._text += text
        entries = (logprobs or {}).get("content") or []
        self._logprobs += entries
        delta = self._event(
            "response.output_text.delta", **self._place(), delta=text, logprobs=entries
        )
        return [*events, delta]

    def _more_of_call(self, function: dict[str, Any]) -> list[Event]:
        events: list[Event] = []
        if "name" in function:
            events += self._close("completed")
            self._open = "call"
            self._calls.append((function["name"], ""))
            events.append(
                self._event(
                    "response.output_item.added",
                    output_index=self._outputs,
                    item=self._last_call("in_progress"),
                )
            )
        if function["arguments"]:
            name, arguments = self._calls[-1]
            self._calls[-1] = (name, arguments + function["arguments"])
            events.append(
                self._event(
                    "response.function_call_arguments.delta",
                    item_id=self._last_call("in_progress")["id"],
                    output_index=self._outputs,
                    delta=function["arguments"],
                )
            )
        return events

    def _close(self, status: str) -> list[Event]:
        """The end of the item that is open."""
        kind, place, self._open = self._open, self._place(), None
        events: list[Event] = []
        if kind == "reasoning":
            item = reasoning_item(self._id, self._thought, status)
            part = thought_part(self._thought)
            events = [
                self._event("response.reasoning_text.done", **place, text=self._thought),
                self._event("response.content_part.done", **place, part=part),
            ]
        elif kind == "message":
            part = text_part(self._text, self._logprobs)
            item = message_item(self._id, self._text, status, self._logprobs)
            events = [
                self._event(
                    "response.output_text.done",
                    **place,
                    text=self._text,
                    logprobs=self._logprobs,
                ),
                self._event("response.content_part.done", **place, part=part),
            ]
        elif kind == "call":
            item = self._last_call(status)
            events = [
                self._event(
                    "response.function_call_arguments.done",
                    item_id=item["id"],
                    output_index=self._outputs,
                    name=item["name"],
                    arguments=item["arguments"],
                )
            ]
        else:
            return []
        events.append(
            self._event("response.output_item.done", output_index=self._outputs, item=item)
        )
        self._outputs += 1
        return events

    def _end(self) -> list[Event]:
        status, incomplete = _status(self._finish_reason, self._error)
        events = self._close("completed" if status == "completed" else "incomplete")
        said = self._text + "".join(begun_call(name) + given for name, given in self._calls)
        text = ThoughtMarks().text_of(self._thought, said)
        error = ParleyError(self._error["message"]) if self._error else None
        response = self._respond(
            status=status,
            output=output_items(
                self._id,
                text,
                status="completed" if status == "completed" else "incomplete",
                logprobs=self._logprobs,
            )
            if text
            else [],
            usage=self._usage,
            error=error,
            incomplete=incomplete,
            model=self._model,
        )
        # A stream ends by one of three events; of a cancelled one the object says it.
        name = "incomplete" if status == "cancelled" else status
        return [*events, self._event(f"response.{name}", response=response)]

    def _place(self) -> dict[str, Any]:
        kind = "rs" if self._open == "reasoning" else "msg"
        return {
            "item_id": f"{kind}_{self._id.hex}",
            "output_index": self._outputs,
            "content_index": 0,
        }

    def _last_call(self, status: str) -> dict[str, Any]:
        name, arguments = self._calls[-1]
        return call_item(self._id, len(self._calls) - 1, name, arguments, status)

    def _event(self, kind: str, **fields: Any) -> Event:
        data = {"type": kind, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return Event(self._sequence - 1, orjson.dumps(data))


def encode_response_event(event: Event) -> bytes:
    """One event of the SSE body, which begins with its type."""
    kind = orjson.loads(event.data)["type"]
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), event.data)


def encode_response_error(error: ParleyError) -> bytes:
    """The stream broke off; its events are there for who comes back."""
    data = {
        "type": "error",
        "sequence_number": 0,
        "code": error.code,
        "message": error.message,
        "param": error.param,
    }
    return b"event: error\ndata: %s\n\n" % orjson.dumps(data)


def is_last_event(event: Event) -> bool:
    """Whether a response's stream ends with `event`."""
    kind = orjson.loads(event.data)["type"]
    return kind in {"response.completed", "response.incomplete", "response.failed"}


RESPONSE_EVENTS = Wire(encode_response_event, encode_response_error, is_last_event)


def _status(finish_reason: str | None, error: dict[str, Any] | None) -> tuple[str, str | None]:
    if error is not None:
        return "failed", None
    if finish_reason == "cancelled":
        return "cancelled", None
    if finish_reason == "content_filter":
        return "incomplete", "content_filter"
    if finish_reason == "length":
        return "incomplete", "max_output_tokens"
    return "completed", None


def _usage(reported: dict[str, Any]) -> Usage:
    read = reported.get("prompt_tokens_details") or {}
    written = reported.get("completion_tokens_details") or {}
    return Usage(
        input_tokens=reported["prompt_tokens"],
        cached_input_tokens=read.get("cached_tokens") or 0,
        image_tokens=read.get("image_tokens") or 0,
        output_tokens=reported["completion_tokens"],
        reasoning_tokens=written.get("reasoning_tokens") or 0,
        cached_output_tokens=written.get("cached_tokens") or 0,
    )
