"""A bad request is told which of its own parameters is at fault."""

import orjson
import pydantic
import pytest

from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.turns import TurnCreate
from backend.api.validation import dotted, invalid_request_from


def error_of(model: type[pydantic.BaseModel], body: object) -> tuple[str | None, str | None]:
    """The `param` and `code` that a client sees for `body`."""
    with pytest.raises(pydantic.ValidationError) as found:
        model.model_validate(body)
    problems = [{**p, "loc": ("body", "body", *p["loc"])} for p in found.value.errors()]
    error = invalid_request_from(problems, orjson.dumps(body))
    return error.param, error.code


CHAT = {"model": "m", "messages": [{"role": "user", "content": "x"}]}


@pytest.mark.parametrize(
    ("change", "param", "code"),
    [
        ({"temperature": "hot"}, "temperature", "invalid_type"),
        ({"temperature": 3}, "temperature", "invalid_value"),
        ({"n": True}, "n", "invalid_type"),
        ({"unheard_of": 1}, "unheard_of", "unknown_parameter"),
        ({"u" * 1000: 1}, "u" * 100, "unknown_parameter"),
        ({f"u{n}": 1 for n in range(1000)}, "u0", "unknown_parameter"),
        ({"stop": ["a"] * 5}, "stop", "invalid_value"),
        ({"stop": ["a", 1]}, "stop[1]", "invalid_type"),
        ({"stop": {"a": 1}}, "stop", "invalid_type"),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "missing_required_parameter"),
        ({"messages": [{"role": "cat", "content": "x"}]}, "messages[0].role", "invalid_value"),
        (
            {"messages": [{"role": "user", "content": [{"type": "text"}]}]},
            "messages[0].content[0].text",
            "missing_required_parameter",
        ),
        (
            {"messages": [{"role": "user", "content": [{"type": "video"}]}]},
            "messages[0].content[0].type",
            "invalid_value",
        ),
    ],
)
def test_validation_error_names_the_field_as_sent(change, param, code):
    assert error_of(ChatCompletionRequest, {**CHAT, **change}) == (param, code)


def test_validation_error_names_the_missing_field():
    assert error_of(ChatCompletionRequest, {"model": "m"}) == (
        "messages",
        "missing_required_parameter",
    )


def test_validation_error_of_a_union_names_the_field():
    assert error_of(TurnCreate, {"content": 5})[0] == "content"
    part = {"type": "image", "attachment_id": "no"}
    assert error_of(TurnCreate, {"content": [part]})[0] == "content[0].attachment_id"


def test_validation_error_writes_paths_as_openai_does():
    assert dotted(["messages", 0, "content", 12, "text"]) == "messages[0].content[12].text"
    assert dotted([]) == ""
