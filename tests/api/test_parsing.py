"""Hostile JSON is refused before anything looks at it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.api.parsing import MAX_DEPTH, loads
from backend.platform.errors import InvalidRequest

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))
NUMBER = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(JSON)
def test_parser_reads_every_json_value(value):
    assert loads(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'a': 1}",
        b"\xff\xfe",
        b"NaN",
        b'{"a": Infinity}',
        b'{"a": 1e999}',
        b'"\\ud800"',
        b'"\\u0000"',
        b'{"a\\u0000": 1}',
        b'{"a": {"b": ["c", "\\u0000"]}}',
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1),
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b'"\\\\\\u0000"',
        b'["' + b"]" * 40 + b'",' + b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1) + b"]",
    ],
)
def test_parser_refuses_nul_bad_numbers_and_deep_nesting(body):
    with pytest.raises(InvalidRequest) as refusal:
        loads(body)
    assert refusal.value.status == 400


def test_parser_allows_nesting_up_to_the_limit():
    assert loads(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)


@given(st.binary(max_size=200))
def test_parser_gives_a_value_or_a_typed_error_for_any_bytes(body):
    try:
        loads(body)
    except InvalidRequest as refusal:
        assert refusal.code in {"invalid_json", "invalid_request"}


@pytest.mark.parametrize("item", [b"{}", b"[]", b"0", b'"ab"', b'{"a":{}}'])
def test_many_small_values_are_refused_unread(item: bytes) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        loads(b"[" + b",".join([item] * 400_000) + b"]")
    assert refusal.value.code == "too_many_values"


@pytest.mark.parametrize(
    "text",
    [
        "{[,:" * 500_000,
        "\\u0000 is the escape of a character",
        'a "quoted" [word] \\' * 50_000,
        "[" * 100,
    ],
)
def test_text_may_hold_what_json_is_made_of(text: str) -> None:
    assert loads(json.dumps([text, {"text": text}]).encode()) == [text, {"text": text}]


def test_long_prompt_of_tokens_is_read() -> None:
    tokens = list(range(10_000, 138_000))
    assert loads(json.dumps({"prompt": tokens}).encode()) == {"prompt": tokens}


def test_catalogue_of_five_hundred_tools_is_read() -> None:
    fields = {f"field_{n}": {"type": "string", "description": "what it is"} for n in range(10)}
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": fields}}}
    assert len(loads(json.dumps({"tools": [tool] * 500}).encode())["tools"]) == 500
