"""The ways to ask for structured output, all turned into one grammar."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import msgspec
from llguidance import LLMatcher

from inference.errors import InvalidRequestError


class JsonSchema(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    schema: dict[str, Any]
    description: str | None = None
    strict: bool | None = None


class ResponseFormat(msgspec.Struct, forbid_unknown_fields=True):
    type: Literal["text", "json_object", "json_schema"]
    json_schema: JsonSchema | None = None


MAX_GRAMMAR_BYTES = 65_536
"""As llguidance writes it: a schema of some 1,300 properties. Compiling takes the square of it, in
the core between two steps: half a second for this much, 40 s for eight times as much."""


def to_grammar(
    response_format: ResponseFormat | None, regex: str | None, choice: list[str] | None
) -> tuple[str, str]:
    """The parameter that asks for structured output, and its grammar as llguidance writes it.

    Both are empty where none does. It may take some tenths of a second.

    Raises:
        InvalidRequestError: naming the parameter whose schema or expression is wrong or too large.
    """
    wanted: list[tuple[str, str]] = []
    if response_format is not None and response_format.type != "text":
        wanted.append(("response_format", _json_grammar(response_format)))
    if regex is not None:
        wanted.append(("guided_regex", LLMatcher.grammar_from_regex(regex)))
    if choice is not None:
        either = "|".join(re.escape(option) for option in choice)
        wanted.append(("guided_choice", LLMatcher.grammar_from_regex(either)))
    if not wanted:
        return "", ""
    param, grammar = wanted[-1]
    if len(wanted) > 1:
        raise InvalidRequestError("only one kind of structured output at a time", param=param)
    if len(grammar.encode()) > MAX_GRAMMAR_BYTES:
        raise InvalidRequestError(
            f"as a grammar it is larger than {MAX_GRAMMAR_BYTES} bytes", param=param
        )
    if problem := LLMatcher.validate_grammar(grammar):
        raise InvalidRequestError(f"it cannot be followed: {problem}", param=param)
    return param, grammar


def _json_grammar(given: ResponseFormat) -> str:
    if given.type == "json_object":
        return LLMatcher.grammar_from_json_schema('{"type": "object"}')
    if given.json_schema is None:
        raise InvalidRequestError("json_schema is missing", param="response_format.json_schema")
    # Spaces between the parts would be allowed without end, and small models use that.
    options = {"whitespace_flexible": False}
    try:
        schema = json.dumps(given.json_schema.schema)
        return LLMatcher.grammar_from_json_schema(schema, overrides=options)  # type: ignore[arg-type]
    except (ValueError, RecursionError) as error:
        raise InvalidRequestError(str(error), param="response_format.json_schema") from error
