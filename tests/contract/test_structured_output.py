"""`response_format`: JSON, and JSON of a schema, as the client's own `parse` asks for it."""

import json
from typing import Literal

import openai
import pytest
from pydantic import BaseModel

pytestmark = pytest.mark.model

ASK = [{"role": "user", "content": "Describe a cherry: its colour and how many seeds it has."}]


class Fruit(BaseModel):
    colour: Literal["red", "green", "blue"]
    seeds: Literal[1, 2, 3]
    edible: bool


def test_answer_parses_into_the_callers_type(client):
    answer = client.chat.completions.parse(
        model="smollm2-135m", messages=ASK, response_format=Fruit, temperature=0, max_tokens=60
    )
    [choice] = answer.choices
    assert choice.finish_reason == "stop"
    assert isinstance(choice.message.parsed, Fruit)
    assert set(json.loads(choice.message.content)) == {"colour", "seeds", "edible"}


def test_stream_follows_the_schema(client):
    schema = {"name": "colour", "schema": {"enum": ["red", "green"]}}
    stream = client.chat.completions.create(
        model="smollm2-135m",
        messages=ASK,
        response_format={"type": "json_schema", "json_schema": schema},
        stream=True,
        max_tokens=20,
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert json.loads(text) in {"red", "green"}


def test_json_object_format_gives_json(client):
    answer = client.chat.completions.create(
        model="smollm2-135m",
        messages=ASK,
        response_format={"type": "json_object"},
        stop=["}"],
        temperature=0,
        max_tokens=40,
    )
    assert answer.choices[0].message.content.lstrip().startswith("{")


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "json_schema"},
        {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "nonsense"}}},
        {"type": "json_schema", "json_schema": {"name": "no spaces", "schema": {}}},
        {"type": "json_object", "json_schema": {"name": "x", "schema": {}}},
        {"type": "xml"},
    ],
)
def test_unsupported_format_is_refused_by_name(client, wrong):
    with pytest.raises(openai.BadRequestError) as refusal:
        client.chat.completions.create(
            model="smollm2-135m", messages=ASK, response_format=wrong, max_tokens=5
        )
    assert (refusal.value.param or "").startswith("response_format")
