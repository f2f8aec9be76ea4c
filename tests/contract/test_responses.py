"""The Responses API with OpenAI's own client: streams, turns, background, tools, errors by name."""

import json
import time
import uuid
from typing import Any, Literal

import httpx
import openai
import pytest
from openai.types.responses import response_create_params
from pydantic import BaseModel

from backend.api.schemas.responses import ResponseCreate
from tests.api.users import sign_up

MODEL = "smollm2-135m"
WEATHER: Any = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"enum": ["Paris", "Rome"]}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
model = pytest.mark.model


def create(client: openai.OpenAI, **fields: Any) -> Any:
    asked = {"model": MODEL, "input": "Say hello.", "temperature": 0, "max_output_tokens": 8}
    return client.responses.create(**{**asked, **fields})


def until_ended(client: openai.OpenAI, response_id: str) -> Any:
    deadline = time.monotonic() + 60
    while (found := client.responses.retrieve(response_id)).status in {"queued", "in_progress"}:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return found


@model
def test_response_has_text_and_usage(client):
    response = create(client, instructions="Be brief.", metadata={"a": "b"})
    assert response.id.startswith("resp_") and response.object == "response"
    assert response.status in {"completed", "incomplete"}
    assert response.output_text
    [message] = response.output
    assert (message.type, message.role) == ("message", "assistant")
    usage = response.usage
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens > 10
    assert response.metadata == {"a": "b"} and response.instructions == "Be brief."


@model
def test_limit_makes_it_incomplete(client):
    response = create(client, input="Tell me a long story.", max_output_tokens=5)
    assert response.status == "incomplete"
    assert response.incomplete_details.reason == "max_output_tokens"
    assert response.usage.output_tokens == 5


@model
def test_stream_has_openais_events_in_their_order(client):
    events = list(create(client, stream=True))
    kinds = [event.type for event in events]
    assert kinds[:4] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
    ]
    assert set(kinds[4:-4]) == {"response.output_text.delta"}
    assert kinds[-4:-1] == [
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
    ]
    assert kinds[-1] in {"response.completed", "response.incomplete"}
    assert [event.sequence_number for event in events] == list(range(len(events)))
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    last = events[-1].response
    assert text == last.output_text == events[-4].text
    whole = create(client)
    assert (whole.output_text, whole.usage.output_tokens) == (text, last.usage.output_tokens)


@model
def test_function_calls_and_their_outputs_over_turns(client):
    choice: Any = {"type": "function", "name": "get_weather"}
    asked: dict[str, Any] = {"tools": [WEATHER], "max_output_tokens": 100}
    events = list(create(client, **asked, tool_choice=choice, stream=True))
    kinds = [event.type for event in events]
    assert kinds[2] == "response.output_item.added"
    assert "response.function_call_arguments.delta" in kinds
    assert kinds[-3:] == [
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ]
    first = events[-1].response
    [call] = first.output
    assert (call.type, call.name, call.status) == ("function_call", "get_weather", "completed")
    assert json.loads(call.arguments)["city"] in {"Paris", "Rome"}
    given = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny, 21."}
    asked["max_output_tokens"] = 8
    second = create(client, **asked, input=[given], previous_response_id=first.id)
    assert second.previous_response_id == first.id
    assert second.usage.input_tokens > first.usage.input_tokens
    # The same without what the server stored.
    items = [{"role": "user", "content": "Say hello."}, call.model_dump(exclude_none=True), given]
    again = create(client, **asked, input=items)
    assert again.usage.input_tokens == second.usage.input_tokens
    assert again.output_text == second.output_text


@model
def test_text_format_is_held(client):
    class Fruit(BaseModel):
        colour: Literal["red", "green"]
        seeds: Literal[1, 2]

    response = client.responses.parse(
        model=MODEL, input="Describe a cherry.", text_format=Fruit, temperature=0
    )
    assert isinstance(response.output_parsed, Fruit)


@model
def test_logprobs_are_included_when_asked(client):
    response = create(client, include=["message.output_text.logprobs"], top_logprobs=2)
    [part] = response.output[0].content
    assert "".join(entry.token for entry in part.logprobs).startswith(part.text[:3])
    assert all(len(entry.top_logprobs) == 2 for entry in part.logprobs)


@model
def test_previous_response_is_what_the_model_reads_first(client):
    first = create(client, input="My name is Ada.")
    second = create(client, input="What is my name?", previous_response_id=first.id)
    third = create(client, input="Sure?", previous_response_id=second.id)
    assert first.usage.input_tokens < second.usage.input_tokens < third.usage.input_tokens
    history = [
        {"role": "user", "content": "My name is Ada."},
        {"role": "assistant", "content": first.output_text},
        {"role": "user", "content": "What is my name?"},
    ]
    alone = create(client, input=history, store=False)
    assert alone.usage.input_tokens == second.usage.input_tokens
    assert alone.output_text == second.output_text


@model
def test_stored_response_is_read_listed_and_deleted(client):
    made = create(
        client, input=[{"role": "user", "content": "One."}, {"role": "user", "content": "Two."}]
    )
    found = client.responses.retrieve(made.id)
    assert found.model_dump() == made.model_dump()
    items = client.responses.input_items.list(made.id, order="asc", limit=1)
    assert [item.content[0].text for item in items] == ["One.", "Two."]
    client.responses.delete(made.id)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)
    with pytest.raises(openai.BadRequestError) as refusal:
        create(client, previous_response_id=made.id)
    assert refusal.value.param == "previous_response_id"


@model
def test_response_that_is_not_stored_is_not_found(client):
    made = create(client, store=False)
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve(made.id)


@model
def test_background_is_polled_followed_and_ends_without_readers(client):
    made = create(client, background=True, input="Tell me a story.")
    assert made.status in {"queued", "in_progress"} and made.background is True
    ended = until_ended(client, made.id)
    assert ended.output_text and ended.usage.output_tokens > 0
    events = list(client.responses.retrieve(made.id, stream=True))
    assert events[-1].response.output_text == ended.output_text
    rest = list(client.responses.retrieve(made.id, stream=True, starting_after=3))
    assert [event.sequence_number for event in rest] == [e.sequence_number for e in events[4:]]


@model
def test_background_stream_goes_on_after_its_client_has_left(client):
    stream = create(
        client, background=True, stream=True, input="Tell me a story.", max_output_tokens=16
    )
    first = next(iter(stream)).response
    stream.response.close()
    assert until_ended(client, first.id).usage.output_tokens > 1


@model
def test_background_is_cancelled(client):
    made = create(client, background=True, input="Count.", max_output_tokens=2000, temperature=2)
    cancelled = client.responses.cancel(made.id)
    assert cancelled.status == "cancelled"
    assert client.responses.cancel(made.id).status == "cancelled"
    other = create(client)
    with pytest.raises(openai.BadRequestError):
        client.responses.cancel(other.id)


@model
def test_idempotency_key_gives_one_response(client):
    headers = {"Idempotency-Key": uuid.uuid4().hex}
    asked: Any = {"input": "Say three words.", "extra_headers": headers}
    first = create(client, **asked)
    assert create(client, **asked).model_dump() == first.model_dump()
    with pytest.raises(openai.BadRequestError) as refusal:
        create(client, input="Other.", extra_headers=headers)
    assert refusal.value.code == "idempotency_key_reused"
    asked["extra_headers"] = {"Idempotency-Key": uuid.uuid4().hex}
    events = list(create(client, **asked, stream=True))
    again = list(create(client, **asked, stream=True))
    assert [event.model_dump() for event in again] == [event.model_dump() for event in events]
    assert events[-1].response.output_text


@model
def test_conversation_is_read_first_and_grows(client, developer):
    seeds: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "My name is Ada."},
        {"role": "assistant", "content": "Hello, Ada."},
    ]
    made = client.conversations.create(items=seeds, metadata={"a": "b"})
    assert made.id.startswith("conv_") and made.metadata == {"a": "b"}
    choice: Any = {"type": "function", "name": "get_weather"}
    asked = {"conversation": made.id, "tools": [WEATHER], "max_output_tokens": 100}
    first = create(client, **asked, input="Rain in Rome?", tool_choice=choice)
    assert first.conversation.id == made.id
    [call] = first.output
    given = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny, 21."}
    brief: Any = {**asked, "max_output_tokens": 8}
    second = create(client, **brief, input=[given], tool_choice="none")
    items = client.conversations.items.list(made.id, order="asc").data
    kinds = [getattr(item, "role", None) or item.type for item in items]
    assert kinds == [
        *("system", "user", "assistant", "user"),
        *("function_call", "function_call_output", "assistant"),
    ]
    assert [items[4].id, items[6].id] == [call.id, second.output[0].id]
    # The same said in one request is the same prompt.
    history = [
        *seeds,
        {"role": "user", "content": "Rain in Rome?"},
        call.model_dump(exclude_none=True),
        given,
    ]
    alone = create(client, input=history, tools=[WEATHER], tool_choice="none")
    assert alone.usage.input_tokens == second.usage.input_tokens
    assert alone.output_text == second.output_text
    # The page has it, and asks on.
    found = developer.browser.get(f"/api/conversations/{uuid.UUID(made.id[5:])}").json()
    assert found["messages"][-1]["content"] == second.output_text
    turn = developer.browser.post(
        f"/api/conversations/{uuid.UUID(made.id[5:])}/messages",
        json={"content": "And Paris?", "max_tokens": 4},
    )
    assert turn.text.endswith("data: [DONE]\n\n")
    page = client.conversations.items.list(made.id, limit=2)
    assert [item.role for item in page.data] == ["assistant", "user"] and page.has_more
    assert client.conversations.items.retrieve(page.data[1].id, conversation_id=made.id)
    client.conversations.items.delete(page.data[1].id, conversation_id=made.id)
    with pytest.raises(openai.NotFoundError):
        client.conversations.items.retrieve(page.data[1].id, conversation_id=made.id)
    assert client.conversations.update(made.id, metadata={"c": "d"}).metadata == {"c": "d"}
    assert client.conversations.delete(made.id).deleted
    with pytest.raises(openai.NotFoundError):
        create(client, conversation=made.id)


@model
def test_conversation_takes_one_response_at_a_time_and_no_image(client, developer, product):
    made = client.conversations.create()
    running = create(
        client, conversation=made.id, background=True, temperature=2, max_output_tokens=2000
    )
    for refused in (
        lambda: create(client, conversation=made.id),
        lambda: client.conversations.items.create(
            made.id, items=[{"role": "user", "content": "x", "type": "message"}]
        ),
    ):
        with pytest.raises(openai.ConflictError) as conflict:
            refused()
        assert conflict.value.code == "conversation_locked"
    client.responses.cancel(running.id)
    image: Any = {"type": "input_image", "image_url": "data:image/png;base64,AA", "detail": "auto"}
    for items in ([{"role": "user", "content": [image]}], [{"role": "assistant", "content": "x"}]):
        with pytest.raises(openai.BadRequestError) as refusal:
            create(client, conversation=made.id, input=items)
        assert refusal.value.param == "input"
    limited = developer.new_key(scopes=["inference"])["secret"]
    with (
        openai.OpenAI(base_url=f"{product.url}/v1", api_key=limited, max_retries=0) as other,
        pytest.raises(openai.PermissionDeniedError),
    ):
        create(other, conversation=made.id)


@model
def test_another_users_response_does_not_exist(client, product):
    made = create(client)
    other = sign_up(product.url)
    headers = {"Authorization": f"Bearer {other.new_key()['secret']}"}
    with httpx.Client(base_url=f"{product.url}/v1", headers=headers) as foreign:
        url = f"/responses/{made.id}"
        for method, path in (
            ("GET", url),
            ("GET", f"{url}/input_items"),
            ("GET", f"{url}?stream=true"),
            ("POST", f"{url}/cancel"),
            ("DELETE", url),
        ):
            assert foreign.request(method, path).status_code == 404, (method, path)
        body = {"model": MODEL, "input": "x", "previous_response_id": made.id}
        refusal = foreign.post("/responses", json=body)
        assert refusal.status_code == 400
        assert refusal.json()["error"]["code"] == "previous_response_not_found"
    other.browser.close()
    assert client.responses.retrieve(made.id).id == made.id


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"input": []}, "input"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0].type"),
        ({"input": [{"type": "reasoning"}]}, "input"),
        ({"input": [{"role": "user", "content": []}]}, "input"),
        ({"input": [{"type": "function_call_output", "call_id": "a", "output": "b"}]}, "input"),
        ({"input": [{"role": "user", "content": [{"type": "input_file"}]}]}, "input[0]"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [{**WEATHER, "name": "a b"}]}, "tools[0].name"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"conversation": "conv_1", "previous_response_id": "resp_1"}, "previous_response_id"),
        ({"prompt": {"id": "x"}}, "prompt"),
        ({"reasoning": {"effort": "high"}}, "reasoning.effort"),
        ({"reasoning": {"effort": "a lot"}}, "reasoning.effort"),
        ({"reasoning": {"summary": "auto"}}, "reasoning.summary"),
        ({"service_tier": "fast"}, "service_tier"),
        ({"include": ["file_search_call.results"]}, "include[0]"),
        ({"truncation": "some"}, "truncation"),
        ({"background": True, "store": False}, "store"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"metadata": {"a": "x" * 513}}, "metadata"),
        ({"extra_body": {"surprise": 1}}, "surprise"),
    ],
)
@model
def test_unsupported_fields_are_refused_by_name(client, fields, param):
    with pytest.raises(openai.BadRequestError) as refusal:
        create(client, **fields)
    assert (refusal.value.param or "").startswith(param), refusal.value.message


def test_every_parameter_of_the_client_is_known():
    names = {
        name
        for one in (
            response_create_params.ResponseCreateParamsBase,
            response_create_params.ResponseCreateParamsNonStreaming,
            response_create_params.ResponseCreateParamsStreaming,
        )
        for name in one.__annotations__
    }
    known = set(ResponseCreate.model_fields) | set(ResponseCreate.refused)
    assert {"input", "tools"} <= names
    assert names - known == set()
