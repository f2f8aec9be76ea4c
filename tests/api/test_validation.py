"""A bad request is told which of its own parameters is at fault."""

import orjson
import pydantic
import pytest

from backend.api.schemas.conversations import TurnCreate
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.validation import dotted, invalid_request_from


def told(model: type[pydantic.BaseModel], body: object) -> tuple[str | None, str | None]:
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
            "messages[0].content[0]",
            "invalid_value",
        ),
    ],
)
def test_the_clients_own_name_is_given(change, param, code):
    assert told(ChatCompletionRequest, {**CHAT, **change}) == (param, code)


def test_a_missing_parameter_is_named():
    assert told(ChatCompletionRequest, {"model": "m"}) == (
        "messages",
        "missing_required_parameter",
    )


def test_a_union_of_text_and_parts():
    assert told(TurnCreate, {"content": 5})[0] == "content"
    part = {"type": "image", "attachment_id": "no"}
    assert told(TurnCreate, {"content": [part]})[0] == "content[0].attachment_id"


def test_a_path_is_written_as_openai_writes_it():
    assert dotted(["messages", 0, "content", 12, "text"]) == "messages[0].content[12].text"
    assert dotted([]) == ""
