"""Tools over HTTP: whatever the model prefers, calls are of the tools and arguments parse."""

from __future__ import annotations

import json

import pytest

pytestmark = pytest.mark.model

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"enum": ["Paris", "Rome"]}, "unit": {"enum": ["C", "F"]}},
            "required": ["city"],
        },
    },
}
NOW = {"type": "function", "function": {"name": "now", "description": "The time"}}
TOOLS = [WEATHER, NOW]
ASK = "What is the weather in Rome?"
NAMED = {"type": "function", "function": {"name": "now"}}


def message_of(response) -> tuple[dict, str]:
    assert response.status_code == 200, response.text
    [choice] = response.json()["choices"]
    return choice["message"], choice["finish_reason"]


def test_required_gives_calls_of_the_tools(served):
    message, reason = message_of(
        served.chat(ASK, tools=TOOLS, tool_choice="required", max_tokens=64)
    )
    assert message["content"] is None
    assert message["tool_calls"]
    assert reason in {"tool_calls", "length"}
    ids = [call["id"] for call in message["tool_calls"]]
    assert len(set(ids)) == len(ids)
    for call in message["tool_calls"][: -1 if reason == "length" else None]:
        assert call["function"]["name"] in {"get_weather", "now"}
        assert set(json.loads(call["function"]["arguments"])) <= {"city", "unit"}


@pytest.mark.parametrize("city", ["Madrid", "Oslo", "Lima", "Cairo"])
def test_required_ends_by_itself(served, city):
    """A small model repeats the call that it has made; the repeated one is not sent."""
    asked = {"tools": TOOLS[:1], "tool_choice": "required", "max_tokens": 200}
    message, reason = message_of(served.chat(f"What is the weather in {city}?", **asked))
    calls = [call["function"]["arguments"] for call in message["tool_calls"]]
    assert reason == "tool_calls"
    assert len(set(calls)) == len(calls)
    streamed = served.chat(f"What is the weather in {city}?", **asked, stream=True)
    chunks = [json.loads(line[6:]) for line in streamed.text.splitlines() if line[:7] == "data: {"]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    begun = [call for one in deltas for call in one.get("tool_calls", []) if "id" in call]
    assert len(begun) == len(calls)


def test_named_function_is_called_once(served):
    message, reason = message_of(served.chat(ASK, tools=TOOLS, tool_choice=NAMED))
    assert reason == "tool_calls"
    [call] = message["tool_calls"]
    assert (call["function"]["name"], call["function"]["arguments"]) == ("now", "{}")


def test_without_parallel_calls_there_is_one(served):
    message, reason = message_of(
        served.chat(ASK, tools=TOOLS, tool_choice="required", parallel_tool_calls=False)
    )
    assert (len(message["tool_calls"]), reason) == (1, "tool_calls")


def test_allowed_tools_are_the_only_ones(served):
    allowed = {"mode": "required", "tools": [NAMED]}
    choice = {"type": "allowed_tools", "allowed_tools": allowed}
    message, _ = message_of(
        served.chat(ASK, tools=TOOLS, tool_choice=choice, parallel_tool_calls=False)
    )
    assert [call["function"]["name"] for call in message["tool_calls"]] == ["now"]


def test_none_is_an_answer_as_without_tools(served):
    plain, _ = message_of(served.chat(ASK, max_tokens=12))
    message, _ = message_of(served.chat(ASK, tools=TOOLS, tool_choice="none", max_tokens=12))
    assert message == plain


def test_stream_tells_a_call_as_openai_does(served):
    body = {
        "messages": [{"role": "user", "content": ASK}],
        "tools": TOOLS,
        "tool_choice": {"type": "function", "function": {"name": "get_weather"}},
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0,
    }
    whole = served.http.post(
        "/v1/chat/completions", json={**body, "stream": None, "stream_options": None}
    ).json()
    deltas, reasons, usage = [], [], None
    with served.http.stream("POST", "/v1/chat/completions", json=body) as response:
        for line in response.iter_lines():
            if line.startswith("data: {"):
                chunk = json.loads(line[6:])
                usage = chunk["usage"] or usage
                for choice in chunk["choices"]:
                    deltas += choice["delta"].get("tool_calls", [])
                    reasons.append(choice["finish_reason"])
    first, *rest = deltas
    assert first["index"] == 0 and first["id"] and first["type"] == "function"
    assert first["function"] == {"name": "get_weather", "arguments": ""}
    assert all(set(delta) == {"index", "function"} for delta in rest)
    [call] = whole["choices"][0]["message"]["tool_calls"]
    arguments = "".join(delta["function"]["arguments"] for delta in rest)
    assert arguments == call["function"]["arguments"]
    assert [reason for reason in reasons if reason] == ["tool_calls"]
    assert usage == whole["usage"]


@pytest.mark.parametrize(
    "so_far", ["", '{"ci', '{"city": "Ro', '{"city": "Rome"', '{"city": "Rome"}']
)
def test_call_that_was_cut_off_goes_on(served, so_far):
    begun = {"function": {"name": "get_weather", "arguments": so_far}, "id": "call_1"}
    body = {
        "messages": [
            {"role": "user", "content": ASK},
            {"role": "assistant", "content": None, "tool_calls": [begun]},
        ],
        "continue_final_message": True,
        "tools": TOOLS,
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "temperature": 0,
        "stream": True,
    }
    arguments, reasons = so_far, []
    with served.http.stream("POST", "/v1/chat/completions", json=body) as response:
        assert response.status_code == 200
        for line in response.iter_lines():
            if line.startswith("data: {"):
                [choice] = json.loads(line[6:])["choices"]
                assert not choice["delta"].get("content")
                for call in choice["delta"].get("tool_calls", []):
                    assert call["index"] == 0 and "id" not in call
                    arguments += call["function"]["arguments"]
                reasons.append(choice["finish_reason"])
    assert json.loads(arguments)["city"] in {"Paris", "Rome"}
    assert reasons[-1] == "tool_calls"


def test_json_that_was_cut_off_goes_on(served):
    schema = {
        "type": "object",
        "properties": {"city": {"enum": ["Rome", "Paris"]}, "size": {"enum": [1, 2]}},
        "required": ["city", "size"],
        "additionalProperties": False,
    }
    body = {
        "messages": [
            {"role": "user", "content": ASK},
            {"role": "assistant", "content": '{"city":"Pa'},
        ],
        "continue_final_message": True,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}},
        "temperature": 0,
    }
    message, reason = message_of(served.http.post("/v1/chat/completions", json=body))
    assert reason == "stop"
    assert json.loads('{"city":"Pa' + message["content"])["city"] == "Paris"


def test_results_are_read_by_a_model_whose_template_knows_no_tools(served):
    call = {"id": "c1", "function": {"name": "get_weather", "arguments": '{"city": "Rome"}'}}
    messages = [
        {"role": "user", "content": ASK},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "21 degrees and sunny"},
    ]
    body = {"messages": messages, "tools": TOOLS, "max_tokens": 12, "temperature": 0}
    message, _ = message_of(served.http.post("/v1/chat/completions", json=body))
    assert message["content"] or message["tool_calls"]


LOOKAHEAD = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=x)x$"}}}


def strange(strict: bool) -> dict:
    return {
        "type": "function",
        "function": {"name": "f", "parameters": LOOKAHEAD, "strict": strict},
    }


def test_schema_that_no_grammar_holds_is_any_object_unless_strict(served):
    message, _ = message_of(
        served.chat(
            "Hi",
            tools=[strange(False)],
            tool_choice="required",
            max_tokens=48,
            parallel_tool_calls=False,
        )
    )
    assert message["tool_calls"][0]["function"]["name"] == "f"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"tools": [strange(True)]}, "tools[0].function.parameters"),
        ({"tools": [NOW, NOW]}, "tools[1].function.name"),
        ({"tools": [NOW], "tool_choice": {"type": "function", "function": {"name": "x"}}},
         "tool_choice"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tools": [NOW], "guided_regex": "a"}, "guided_regex"),
        ({"tools": [NOW], "ignore_eos": True}, "ignore_eos"),
        ({"tools": [{"type": "function", "function": {"name": "no spaces"}}]},
         "tools[0].function.name"),
    ],
)  # fmt: skip
def test_malformed_tools_are_refused_by_name(served, fields, param):
    response = served.chat("hi", **fields)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param
