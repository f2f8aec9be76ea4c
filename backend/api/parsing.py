"""JSON in: strict, and bounded before anything else looks at it.

Refused with a 400: malformed JSON, NaN and infinities, lone surrogates, NUL characters (which
PostgreSQL cannot store), nesting deeper than `MAX_DEPTH`, more values than `allowed_cost`.
Refused with a 415: a body that says it is something other than JSON.

Each check counts bytes; none walks the values in Python.
"""

import re
from typing import Any

import orjson
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser
from ninja.types import DictStrAny

from backend.api.errors import UnsupportedMediaType
from backend.platform.errors import InvalidRequest

MAX_DEPTH = 32

# Bytes of memory that a value takes at most, when it has become part of a model. Measured by
# tests/api/test_body_memory.py.
_OBJECT, _ARRAY, _ENTRY, _STRING, _VALUE = 400, 100, 60, 60, 44
# `{}` takes 20 times its own length, so few may stand in a small body and fewer, by its length, in
# a large one: together at most ten times the length from 1 MiB on.
_COST_PER_BYTE = 6
_COST_AT_LEAST = 4 << 20

# The escape of NUL, after an even number of backslashes.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*+\\u0000")
_JSON_TYPES = frozenset({"application/json", "text/json", ""})


class StrictParser(Parser):
    """Ninja's parser hook."""

    def parse_body(self, request: HttpRequest) -> DictStrAny:
        content_type = request.content_type or ""
        if content_type not in _JSON_TYPES and not content_type.endswith("+json"):
            raise UnsupportedMediaType(
                f"The body is {content_type!r}. Send JSON with Content-Type: application/json."
            )
        return loads(request.body)

    def parse_querydict(
        self, data: MultiValueDict[str, Any], list_fields: list[str], request: HttpRequest
    ) -> DictStrAny:
        for key in data:
            if any("\x00" in value for value in data.getlist(key) if isinstance(value, str)):
                raise InvalidRequest(f"{key!r} holds a NUL character. Remove it.", param=key)
        return super().parse_querydict(data, list_fields, request)


def loads(body: bytes) -> Any:
    """The JSON value of `body`; InvalidRequest in every case of the module's description."""
    _refuse_hostile(body)
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"The body is not valid JSON: {error}.", code="invalid_json") from None


def _refuse_hostile(body: bytes) -> None:
    if b"\\u0000" in body and _NUL.search(body):
        raise InvalidRequest("The body holds a NUL character (\\u0000). Remove it.")
    if cost(body) <= allowed_cost(body) and body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        return
    structure = _without_strings(body)
    if cost(structure) > allowed_cost(body):
        raise InvalidRequest(
            f"The body holds {structure.count(b'{'):,} objects and {structure.count(b',') + 1:,}"
            f" values, more than are read at once from {len(body):,} bytes. Send fewer.",
            code="too_many_values",
        )
    if _is_deep(structure):
        raise InvalidRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")


def allowed_cost(body: bytes) -> int:
    return _COST_AT_LEAST + _COST_PER_BYTE * len(body)


def cost(structure: bytes) -> int:
    """Bytes of memory that the values take at most; more where texts are not left out."""
    return (
        structure.count(b"{") * _OBJECT
        + structure.count(b"[") * _ARRAY
        + structure.count(b":") * _ENTRY
        + structure.count(b'"') // 2 * _STRING
        + structure.count(b",") * _VALUE
    )


def _without_strings(body: bytes) -> bytes:
    """The body with each string as `""`."""
    if b"\\" in body:
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if body.count(b'"') // 2 * _STRING > allowed_cost(body):
        return b'"' * body.count(b'"')  # too many to be taken out one by one
    return b'""'.join(body.split(b'"')[::2])


def _is_deep(structure: bytes) -> bool:
    """Return whether brackets nest deeper than `MAX_DEPTH`."""
    brackets = structure.translate(_TO_SQUARE, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


_TO_SQUARE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
