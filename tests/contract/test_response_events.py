"""A chat's chunks as Responses events: OpenAI's own types read them, and a second reading is the
same."""

from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import orjson
import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from backend.api.responses.events import ResponseEvents
from backend.api.responses.objects import parameters, response_object
from backend.api.schemas.responses import ResponseCreate
from backend.generation.request import DONE, Event
from backend.generation.run.chunk_encoder import ChunkEncoder
from backend.generation.tools import ArgumentsDelta, CallBegin
from backend.generation.usage import Usage
from backend.platform.errors import UpstreamFailed

GENERATION = UUID("00000000-0000-4000-8000-000000000001")
CHUNKS = ChunkEncoder(
    public_id="chatcmpl-1", created=1, model="m", endpoint="chat", stream_usage=True
)
READ: Any = TypeAdapter(ResponseStreamEvent)


def events_of(*chunks: bytes) -> list[Any]:
    body = ResponseCreate.model_validate({"model": "auto", "input": "x"})
    respond = partial(response_object, GENERATION, datetime.now(UTC), parameters(body))
    made = ResponseEvents(GENERATION, respond)
    events = made.begin()
    for number, chunk in enumerate(chunks, start=1):
        events += made.feed(Event(number, chunk))
    read = [READ.validate_json(event.data) for event in events]
    assert [event.sequence_number for event in read] == list(range(len(read)))
    return read


@pytest.mark.parametrize("answers", [True, False])
def test_thought_is_an_item_of_its_own_before_the_answer(answers: bool) -> None:
    events = events_of(
        CHUNKS.begin(0),
        CHUNKS.thought(0, "Let me "),
        CHUNKS.thought(0, "see."),
        *([CHUNKS.text(0, "Hi", None)] if answers else []),
        CHUNKS.finish(0, "stop" if answers else "length"),
        CHUNKS.usage(Usage(3, 1, 9, 5)),
        DONE,
    )
    kinds = [event.type.removeprefix("response.") for event in events]
    assert kinds[2:9] == [
        "output_item.added",
        "content_part.added",
        "reasoning_text.delta",
        "reasoning_text.delta",
        "reasoning_text.done",
        "content_part.done",
        "output_item.done",
    ]
    response = events[-1].response
    assert (events[0].response.model, response.model) == ("auto", "m")
    types = ["reasoning", "message"] if answers else ["reasoning"]
    assert [item.type for item in response.output] == types
    thought = response.output[0]
    assert [part.text for part in thought.content] == ["Let me see."]
    assert thought.status == ("completed" if answers else "incomplete")
    done = [event for event in events if event.type == "response.output_item.done"]
    assert [event.item for event in done] == response.output
    assert [event.output_index for event in done] == list(range(len(done)))
    assert response.usage.output_tokens_details.reasoning_tokens == 5


def test_text_and_calls_are_items_one_after_another() -> None:
    events = events_of(
        CHUNKS.begin(0),
        CHUNKS.text(0, "Hi ", None),
        CHUNKS.text(0, "you", None),
        CHUNKS.call(0, CallBegin(0, "pay")),
        CHUNKS.arguments(0, ArgumentsDelta(0, '{"a"')),
        CHUNKS.arguments(0, ArgumentsDelta(0, ":1}")),
        CHUNKS.call(0, CallBegin(1, "now")),
        CHUNKS.arguments(0, ArgumentsDelta(1, "{}")),
        CHUNKS.finish(0, "tool_calls"),
        CHUNKS.usage(Usage(3, 1, 9)),
        DONE,
    )
    added = [event for event in events if event.type == "response.output_item.added"]
    done = [event for event in events if event.type == "response.output_item.done"]
    assert [event.output_index for event in added] == [0, 1, 2]
    assert [event.output_index for event in done] == [0, 1, 2]
    last = events[-1]
    assert last.type == "response.completed"
    assert [item.type for item in last.response.output] == [
        "message",
        "function_call",
        "function_call",
    ]
    assert [event.item for event in done] == last.response.output
    assert [item.arguments for item in last.response.output[1:]] == ['{"a":1}', "{}"]
    assert last.response.usage.total_tokens == 12


@pytest.mark.parametrize(
    ("reason", "kind", "why"),
    [
        ("stop", "response.completed", None),
        ("length", "response.incomplete", "max_output_tokens"),
        ("loop", "response.incomplete", "max_output_tokens"),
        ("content_filter", "response.incomplete", "content_filter"),
    ],
)
def test_finish_reason_is_the_status(reason: str, kind: str, why: str | None) -> None:
    *_, last = events_of(CHUNKS.text(0, "Hi", None), CHUNKS.finish(0, reason), DONE)
    assert last.type == kind
    assert (last.response.incomplete_details and last.response.incomplete_details.reason) == why


def test_error_is_a_failed_response_with_its_text() -> None:
    error = CHUNKS.error(UpstreamFailed("The engine is gone."))
    *_, last = events_of(CHUNKS.text(0, "Hi", None), error, DONE)
    assert last.type == "response.failed"
    assert last.response.error.message == "The engine is gone."
    assert last.response.output_text == "Hi"


def test_second_reading_is_the_same() -> None:
    chunks = [CHUNKS.text(0, "a", None), CHUNKS.finish(0, "stop"), DONE]
    once, again = events_of(*chunks), events_of(*chunks)
    assert [event.type for event in once] == [event.type for event in again]
    assert orjson.loads(once[4].model_dump_json()) == orjson.loads(again[4].model_dump_json())
