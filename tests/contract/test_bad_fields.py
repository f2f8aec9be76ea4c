"""Each field of the generating endpoints, wrong in kind, size or combination: a 400 names it.

The bodies below hold every field that is honoured of the published schemas. Each value in them is
replaced by one of every other JSON kind, each object gets an unknown name, each required field is
left out; `MAY_BE` says which other kinds the schemas take.
"""

import copy
from collections.abc import Iterator
from typing import Any

import orjson
import pydantic
import pytest

from backend.api.anthropic.messages import chat_body as chat_of_message
from backend.api.responses.items import chat_body as chat_of_response
from backend.api.schemas.anthropic import CountTokens, MessagesCreate
from backend.api.schemas.openai_chat import ChatCompletionRequest
from backend.api.schemas.openai_completions import CompletionRequest
from backend.api.schemas.openai_embeddings import EmbeddingsRequest
from backend.api.schemas.responses import ResponseCreate
from backend.api.validation import dotted, invalid_request_from
from backend.platform.errors import InvalidRequest
from tests.contract.test_field_table import SCHEMAS as PUBLISHED
from tests.contract.test_field_table import fields_of

PIXEL = "data:image/png;base64,iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
FUNCTION = {"name": "look", "description": "Looks.", "parameters": SCHEMA, "strict": True}
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
SAMPLING = {
    "model": "auto",
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "temperature": 0.5,
    "top_p": 0.5,
    "n": 2,
    "stop": ["a"],
    "presence_penalty": 0.5,
    "frequency_penalty": 0.5,
    "seed": 7,
    "logit_bias": {"5": 1.5},
    "user": "u",
}
CHAT: dict[str, Any] = {
    **SAMPLING,
    "n": 1,
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi"},
                {"type": "image_url", "image_url": {"url": PIXEL, "detail": "low"}},
            ],
        },
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "Sunny."},
    ],
    "max_completion_tokens": 9,
    "metadata": {"a": "b"},
    "store": True,
    "logprobs": True,
    "top_logprobs": 2,
    "parallel_tool_calls": True,
    "prediction": {"type": "content", "content": "Hello"},
    "tools": [{"type": "function", "function": FUNCTION}],
    "tool_choice": {
        "type": "allowed_tools",
        "allowed_tools": {
            "mode": "auto",
            "tools": [{"type": "function", "function": {"name": "look"}}],
        },
    },
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "n", "description": "d", "schema": SCHEMA, "strict": True},
    },
    "reasoning_effort": "low",
    "verbosity": "low",
    "service_tier": "flex",
    "safety_identifier": "s",
    "prompt_cache_key": "k",
}
COMPLETION: dict[str, Any] = {
    **SAMPLING,
    "prompt": "Hi",
    "max_tokens": 9,
    "logprobs": 2,
    "best_of": 2,
    "suffix": "end",
}
EMBEDDINGS: dict[str, Any] = {
    "model": "auto",
    "input": ["Hi"],
    "dimensions": 8,
    "encoding_format": "float",
    "user": "u",
}
RESPONSE: dict[str, Any] = {
    "model": "auto",
    "input": [
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Hi"},
                {"type": "input_image", "image_url": PIXEL, "detail": "low"},
            ],
        },
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Sunny."},
    ],
    "instructions": "Be brief.",
    "store": True,
    "background": False,
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "max_output_tokens": 9,
    "max_tool_calls": 2,
    "temperature": 0.5,
    "top_p": 0.5,
    "top_logprobs": 2,
    "text": {
        "format": {
            "type": "json_schema",
            "name": "n",
            "description": "d",
            "schema": SCHEMA,
            "strict": True,
        },
        "verbosity": "medium",
    },
    "service_tier": "flex",
    "reasoning": {"effort": "low"},
    "tools": [{"type": "function", **FUNCTION}],
    "tool_choice": {"type": "function", "name": "look"},
    "parallel_tool_calls": True,
    "truncation": "auto",
    "include": ["message.output_text.logprobs"],
    "metadata": {"a": "b"},
    "user": "u",
    "safety_identifier": "s",
    "prompt_cache_key": "k",
    "conversation": {"id": "conv_1"},
}
TOKENS: dict[str, Any] = {
    "model": "auto",
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral", "ttl": "5m"}},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
                },
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "look", "input": {"a": 1}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Sunny."}],
        },
    ],
    "system": [{"type": "text", "text": "Be brief."}],
    "tools": [{"type": "custom", "name": "look", "description": "d", "input_schema": SCHEMA}],
    "tool_choice": {"type": "tool", "name": "look", "disable_parallel_tool_use": True},
    "cache_control": {"type": "ephemeral"},
}
MESSAGE: dict[str, Any] = {
    **TOKENS,
    "max_tokens": 9,
    "stream": True,
    "stop_sequences": ["a"],
    "temperature": 0.5,
    "top_p": 0.5,
    "top_k": 5,
    "metadata": {"user_id": "u"},
    "service_tier": "auto",
}
ENDPOINTS: dict[str, tuple[type[pydantic.BaseModel], dict[str, Any]]] = {
    "/v1/chat/completions": (ChatCompletionRequest, CHAT),
    "/v1/completions": (CompletionRequest, COMPLETION),
    "/v1/embeddings": (EmbeddingsRequest, EMBEDDINGS),
    "/v1/responses": (ResponseCreate, RESPONSE),
    "/v1/messages": (MessagesCreate, MESSAGE),
    "/v1/messages/count_tokens": (CountTokens, TOKENS),
}
FREE = {"parameters", "schema", "input_schema", "input"}
"""Objects with names of the client's own: schemas, and the arguments of a call."""
MAPS = [("metadata",), ("logit_bias",), *((name,) for name in sorted(FREE))]
# Not in the bodies, since they exclude another field or mean the same.
LEFT_OUT = {"echo", "max_tokens", "previous_response_id", "thinking"}
WRONG: dict[str, Any] = {
    "string": "no such thing",
    "integer": 987654321,
    "number": 0.25,
    "boolean": True,
    "list": [],
    "object": {"no_such": 1},
}
# Values of another kind that the published schemas take too.
MAY_BE = {
    "conversation": ("string",),
    "content": ("string", "list"),
    "input": ("string", "integer"),  # a text, a token
    "output": ("list",),
    "stop": ("string",),
    "system": ("string",),
}
# What is wrong with one field beside another one may be told of the other.
BESIDE = {
    "call_id": "input",
    "content": "messages",
    "id": "messages",
    "logprobs": "top_logprobs",
    "n": "best_of",
    "store": "metadata",
    "tool_calls": "messages",
    "tool_use_id": "messages",
    "tools": "tool_choice",
}
Path = tuple[str | int, ...]


def kind_of(value: Any) -> str:
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", list: "list"}
    return kinds.get(type(value), "object" if isinstance(value, dict) else "null")


def values_in(body: Any, at: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Each value below `body`, but those of free objects: schemas, arguments of calls."""
    inner = body.items() if isinstance(body, dict) else enumerate(body)
    for name, value in inner:
        yield (*at, name), value
        is_free = isinstance(value, dict) and name in FREE
        if isinstance(value, dict | list) and not is_free:
            yield from values_in(value, (*at, name))


def changed(body: dict[str, Any], path: Path, value: Any = None, *, gone: bool = False) -> Any:
    other = copy.deepcopy(body)
    node: Any = other
    for name in path[:-1]:
        node = node[name]
    if gone:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return other


def refusal(path: str, body: Any) -> InvalidRequest | None:
    """What a client is answered; None: nothing is wrong with `body` itself."""
    model = ENDPOINTS[path][0]
    try:
        parsed: Any = model.model_validate(body)
        if isinstance(parsed, ResponseCreate):
            chat_of_response(parsed, [])
        elif isinstance(parsed, MessagesCreate | CountTokens):
            chat_of_message(parsed)
    except pydantic.ValidationError as found:
        problems: list[Any] = [
            {**one, "loc": ("body", "body", *one["loc"])} for one in found.errors()
        ]
        return invalid_request_from(problems, orjson.dumps(body))
    except InvalidRequest as error:
        return error
    return None


def field_of(at: Path) -> str:
    return next(name for name in reversed(at) if isinstance(name, str))


def names(error: InvalidRequest, at: Path) -> bool:
    """Whether it names the value at `at`, or the field beside which it is wrong."""
    param = error.param or ""
    return param.startswith(dotted(at)) or param.startswith(BESIDE.get(field_of(at), "?"))


@pytest.mark.parametrize("path", ENDPOINTS)
def test_body_holds_each_published_field_and_is_taken(path: str) -> None:
    model, body = ENDPOINTS[path]
    published = fields_of(PUBLISHED[path][0])
    honoured = published - set(getattr(model, "refused", {}))
    assert honoured - set(body) - LEFT_OUT == set()
    error = refusal(path, body)
    assert error is None, error


@pytest.mark.parametrize("path", ENDPOINTS)
def test_value_of_another_kind_is_refused_by_its_field(path: str) -> None:
    body = ENDPOINTS[path][1]
    wrong = []
    for at, value in values_in(body):
        for kind, other in WRONG.items():
            error = refusal(path, changed(body, at, other))
            if error is None:
                if kind not in (kind_of(value), *MAY_BE.get(field_of(at), ())):
                    wrong.append(f"{dotted(at)} = {other!r} is taken")
            elif not names(error, at):
                wrong.append(f"{dotted(at)} = {other!r} names {error.param}: {error.message}")
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("path", ENDPOINTS)
def test_unknown_and_missing_fields_are_named(path: str) -> None:
    body = ENDPOINTS[path][1]
    wrong = []
    for at, value in [((), body), *values_in(body)]:
        if isinstance(value, dict) and at[-1:] not in MAPS:
            unknown = (*at, "no_such")
            error = refusal(path, changed(body, unknown, 1))
            if error is None or error.param != dotted(unknown):
                wrong.append(f"{dotted(unknown)}: {error and (error.param, error.message)}")
        if at:
            error = refusal(path, changed(body, at, gone=True))
            if error is not None and not names(error, at[:1]) and not names(error, at):
                wrong.append(f"{dotted(at)} left out names {error.param}: {error.message}")
    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize(
    ("path", "changes", "param"),
    [
        ("/v1/chat/completions", {"temperature": 2.1}, "temperature"),
        ("/v1/chat/completions", {"top_p": -0.1}, "top_p"),
        ("/v1/chat/completions", {"n": 9}, "n"),
        ("/v1/chat/completions", {"stop": ["a"] * 5}, "stop"),
        ("/v1/chat/completions", {"stop": ["a" * 257]}, "stop[0]"),
        ("/v1/chat/completions", {"presence_penalty": 2.1}, "presence_penalty"),
        ("/v1/chat/completions", {"top_logprobs": 21}, "top_logprobs"),
        ("/v1/chat/completions", {"max_completion_tokens": 0}, "max_completion_tokens"),
        ("/v1/chat/completions", {"max_tokens": 5}, "max_tokens"),
        ("/v1/chat/completions", {"seed": 2**63}, "seed"),
        ("/v1/chat/completions", {"messages": []}, "messages"),
        ("/v1/chat/completions", {"metadata": {"a" * 65: "b"}}, "metadata"),
        ("/v1/chat/completions", {"metadata": {str(n): "" for n in range(17)}}, "metadata"),
        ("/v1/chat/completions", {"tools": CHAT["tools"] * 129}, "tools"),
        ("/v1/chat/completions", {"tools": CHAT["tools"] * 2}, "tools[1].function.name"),
        ("/v1/chat/completions", {"user": "u" * 513}, "user"),
        ("/v1/chat/completions", {"stream": False}, "stream_options"),
        ("/v1/completions", {"best_of": 1, "n": 2}, "best_of"),
        ("/v1/completions", {"echo": True}, "echo"),
        ("/v1/completions", {"logprobs": 21}, "logprobs"),
        ("/v1/completions", {"prompt": ["a"] * 129}, "prompt"),
        ("/v1/embeddings", {"input": ["a"] * 2049}, "input"),
        ("/v1/embeddings", {"dimensions": 0}, "dimensions"),
        ("/v1/responses", {"input": []}, "input"),
        ("/v1/responses", {"previous_response_id": "resp_1"}, "previous_response_id"),
        ("/v1/responses", {"background": True, "store": False}, "store"),
        ("/v1/responses", {"include": ["file_search_call.results"]}, "include[0]"),
        ("/v1/responses", {"max_tool_calls": 0}, "max_tool_calls"),
        ("/v1/responses", {"stream": False}, "stream_options"),
        ("/v1/responses", {"text": {"format": {"type": "xml"}}}, "text.format.type"),
        ("/v1/messages", {"max_tokens": 0}, "max_tokens"),
        ("/v1/messages", {"temperature": 1.1}, "temperature"),
        ("/v1/messages", {"stop_sequences": ["a"] * 5}, "stop_sequences"),
        ("/v1/messages", {"tool_choice": {"type": "tool"}}, "tool_choice"),
        ("/v1/messages", {"tool_choice": {"type": "tool", "name": "no"}}, "tool_choice"),
        (
            "/v1/messages",
            {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 1024}},
            "tool_choice",
        ),
    ],
)
def test_size_or_combination_is_refused_by_its_field(
    path: str, changes: dict[str, Any], param: str
) -> None:
    error = refusal(path, {**ENDPOINTS[path][1], **changes})
    assert error is not None and error.status == 400
    assert error.param == param, error.message
    assert param.partition("[")[0] in error.message
