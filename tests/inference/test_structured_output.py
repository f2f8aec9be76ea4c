"""Structured output: what comes back follows what was asked, whatever the model prefers."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

pytestmark = pytest.mark.model

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 12},
        "size": {"enum": ["small", "large"]},
        "rivers": {"type": "array", "items": {"enum": [1, 22, 333]}, "maxItems": 2},
    },
    "required": ["city", "size", "rivers"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "schema": SCHEMA}}


def content(response) -> str:
    assert response.status_code == 200, response.text
    choice = response.json()["choices"][0]
    assert choice["finish_reason"] == "stop"
    return choice["message"]["content"]


@pytest.mark.parametrize("sampling", [{}, {"temperature": 1.8, "seed": 5}])
def test_json_schema_is_followed(served, sampling):
    text = content(served.chat("Hello!", response_format=FORMAT, max_tokens=80, **sampling))
    jsonschema.validate(json.loads(text), SCHEMA)


def test_regular_expression_is_followed(served):
    text = content(served.chat("A date?", guided_regex=r"20\d\d-(0\d|1[0-2])", max_tokens=20))
    assert re.fullmatch(r"20\d\d-(0\d|1[0-2])", text)


def test_answer_is_one_of_the_choices(served):
    options = ["a (plain) one", "quite another. one"]
    assert content(served.chat("hi", guided_choice=options, max_tokens=20)) in options


def test_neighbours_in_a_batch_are_not_restricted(served):
    alone = served.http.post("/v1/completions", json={"prompt": "One", "temperature": 0}).json()
    body = {"prompt": ["One", "One"], "temperature": 0, "guided_regex": "[0-9]{3}"}
    both = served.http.post("/v1/completions", json=body).json()["choices"]
    assert all(re.fullmatch("[0-9]{3}", choice["text"]) for choice in both)
    again = served.http.post("/v1/completions", json={"prompt": "One", "temperature": 0}).json()
    assert again["choices"] == alone["choices"]


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        ({"guided_regex": "("}, "guided_regex"),
        ({"guided_regex": "a", "guided_choice": ["a"]}, "guided_choice"),
        ({"guided_regex": "a+", "min_tokens": 3}, "min_tokens"),
        ({"response_format": {"type": "xml"}}, "response_format.type"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "x", "schema": {"type": "no such type"}},
                }
            },
            "response_format",
        ),
    ],
)
def test_grammar_is_refused_by_name_when_it_is_wrong(served, fields, param):
    response = served.chat("hi", **fields)
    assert response.status_code == 400, response.text
    assert response.json()["error"]["param"] == param
