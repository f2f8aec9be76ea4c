"""Tools with OpenAI's own client: calls, streams, results over several turns, errors by name."""

import json
from typing import Any, Literal

import openai
import pytest
from openai.lib.streaming.chat import ChatCompletionStreamState
from pydantic import BaseModel

from tests.support.product import Product

MODEL = "smollm2-135m"
ASK: list[Any] = [{"role": "user", "content": "What is the weather in Rome and in Paris?"}]


class GetWeather(BaseModel):
    """The weather of a city."""

    city: Literal["Paris", "Rome"]


WEATHER: Any = openai.pydantic_function_tool(GetWeather, name="get_weather")
NOW: Any = {"type": "function", "function": {"name": "now", "description": "The time of day"}}
TOOLS = [WEATHER, NOW]
NAMED: Any = {"type": "function", "function": {"name": "get_weather"}}
model = pytest.mark.model


def create(client: openai.OpenAI, **fields: Any) -> Any:
    asked = {"model": MODEL, "messages": ASK, "tools": TOOLS, "temperature": 0, "max_tokens": 100}
    return client.chat.completions.create(**{**asked, **fields})


@pytest.fixture(scope="module")
def named(product: Product, secret: str) -> Any:
    """An answer that calls the function that its request named."""
    with openai.OpenAI(base_url=f"{product.url}/v1", api_key=secret, max_retries=0) as client:
        return create(client, tool_choice=NAMED)


@model
def test_named_function_is_called_with_arguments_of_its_schema(named):
    [choice] = named.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    [call] = choice.message.tool_calls
    assert call.id.startswith("call_") and call.type == "function"
    assert call.function.name == "get_weather"
    GetWeather.model_validate_json(call.function.arguments)


@model
def test_clients_parse_gives_its_own_type(client):
    parsed = client.chat.completions.parse(
        model=MODEL, messages=ASK, tools=[WEATHER], tool_choice="required",
        parallel_tool_calls=False, temperature=0, max_tokens=100,
    )  # fmt: skip
    [call] = parsed.choices[0].message.tool_calls
    assert isinstance(call.function.parsed_arguments, GetWeather)


@model
def test_parallel_calls_have_ids_of_their_own(client):
    """A small model goes on with calls, until it repeats one: the answer ends there."""
    asked: dict[str, Any] = {"tools": [WEATHER], "tool_choice": "required"}
    choice = create(client, **asked, max_tokens=100).choices[0]
    calls = choice.message.tool_calls
    assert choice.finish_reason == "tool_calls"
    assert {json.loads(call.function.arguments)["city"] for call in calls} == {"Rome", "Paris"}
    assert len({call.id for call in calls}) == len(calls) == 2
    one = create(client, **asked, parallel_tool_calls=False)
    assert len(one.choices[0].message.tool_calls) == 1


@model
def test_allowed_tools_are_a_subset(client):
    now = {"type": "function", "function": {"name": "now"}}
    choice: Any = {
        "type": "allowed_tools",
        "allowed_tools": {"mode": "required", "tools": [now]},
    }
    answer = create(client, tool_choice=choice, parallel_tool_calls=False)
    [call] = answer.choices[0].message.tool_calls
    assert (call.function.name, call.function.arguments) == ("now", "{}")


@model
def test_none_calls_nothing(client):
    answer = create(client, tool_choice="none", max_tokens=8)
    assert answer.choices[0].message.tool_calls is None
    assert answer.choices[0].message.content


@model
def test_auto_answers_or_calls(client):
    [choice] = create(client, max_tokens=16).choices
    assert choice.message.content or choice.message.tool_calls
    for call in choice.message.tool_calls or ():
        assert call.function.name in {"get_weather", "now"}


@model
def test_stream_gives_name_first_then_arguments_in_parts(client, named):
    whole = named
    state = ChatCompletionStreamState()
    deltas: list[Any] = []
    reasons: list[str] = []
    for chunk in create(
        client, tool_choice=NAMED, stream=True, stream_options={"include_usage": True}
    ):
        state.handle_chunk(chunk)
        for choice in chunk.choices:
            deltas += choice.delta.tool_calls or []
            reasons += [choice.finish_reason] if choice.finish_reason else []
    first, *rest = deltas
    assert first.index == 0 and first.id and first.type == "function"
    assert (first.function.name, first.function.arguments) == ("get_weather", "")
    assert len(rest) > 1
    assert all(d.index == 0 and d.id is None and d.function.name is None for d in rest)
    assert reasons == ["tool_calls"]
    streamed = state.get_final_completion()
    [call] = streamed.choices[0].message.tool_calls or []
    [same] = whole.choices[0].message.tool_calls
    assert streamed.usage is not None
    assert call.function.arguments == same.function.arguments
    assert streamed.usage.completion_tokens == whole.usage.completion_tokens
    assert streamed.usage.prompt_tokens == whole.usage.prompt_tokens


@model
def test_results_are_joined_to_their_calls_over_turns(client, named):
    first = named
    message = first.choices[0].message
    [call] = message.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": "Sunny, 21 degrees."}
    second = create(client, messages=[*ASK, message.model_dump(), result], max_tokens=8)
    assert second.choices[0].message.content or second.choices[0].message.tool_calls
    assert second.usage.prompt_tokens > first.usage.prompt_tokens
    third = create(
        client,
        messages=[*ASK, message.model_dump(), result, {"role": "user", "content": "And the time?"}],
        tool_choice={"type": "function", "function": {"name": "now"}},
    )
    assert third.choices[0].message.tool_calls[0].id != call.id


def called(*ids: str) -> dict[str, Any]:
    function = {"name": "now", "arguments": "{}"}
    calls = [{"id": one, "type": "function", "function": function} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str | None) -> dict[str, Any]:
    return {"role": "tool", "content": "12:00", "tool_call_id": call_id}


def function(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", **fields}}


LOOKAHEAD = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=x)x$"}}}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": [*ASK, called("a"), result("b")]}, "messages[2].tool_call_id"),
        ({"messages": [*ASK, result("a")]}, "messages[1].tool_call_id"),
        ({"messages": [*ASK, called("a"), result(None)]}, "messages[2].tool_call_id"),
        ({"messages": [*ASK, called("a"), result("a"), result("a")]}, "messages[3].tool_call_id"),
        ({"messages": [*ASK, called("a", "b"), result("a"), *ASK]}, "messages"),
        ({"messages": [*ASK, called("a")]}, "messages"),
        ({"messages": [{**called("a"), "role": "user"}]}, "messages[0]"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"tools": [NOW, NOW]}, "tools[1].function.name"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "tools[0].type"),
        ({"tools": [function(name="no spaces")]}, "tools[0].function.name"),
        ({"tools": [function(parameters={"type": "string"})]}, "tools[0].function.parameters"),
        ({"tools": [function(parameters=LOOKAHEAD, strict=True)]}, "tools[0].function.parameters"),
        ({"tools": [function(surprise=1)]}, "tools[0].function.surprise"),
        ({"tools": [NOW] * 129}, "tools"),
        ({"tools": "now"}, "tools"),
        ({"tool_choice": "sometimes"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "other"}}}, "tool_choice"),
        ({"tool_choice": {"type": "function"}}, "tool_choice"),
        ({"tools": None, "tool_choice": "required"}, "tool_choice"),
        ({"parallel_tool_calls": "yes"}, "parallel_tool_calls"),
        ({"functions": [{"name": "f"}]}, "functions"),
    ],
)
@model
def test_malformed_tools_are_refused_by_name(client, fields, param):
    with pytest.raises(openai.BadRequestError) as refusal:
        create(client, **{"tools": [NOW], **fields})
    assert refusal.value.param == param, refusal.value.message
