"""JSON in: strict, and bounded before anything else looks at it.

Refused with a 400: malformed JSON, NaN and infinities, lone surrogates, NUL characters (which
PostgreSQL cannot store), nesting deeper than `MAX_DEPTH`. Refused with a 415: a body that says
it is something other than JSON.
"""

from typing import Any

import orjson
from django.http import HttpRequest
from django.utils.datastructures import MultiValueDict
from ninja.parser import Parser
from ninja.types import DictStrAny

from backend.api.errors import UnsupportedMediaType
from backend.platform.errors import InvalidRequest

MAX_DEPTH = 32
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
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"The body is not valid JSON: {error}.", code="invalid_json") from None
    _refuse_hostile(value)
    return value


def _refuse_hostile(value: Any) -> None:
    """Walk `value` without recursion; InvalidRequest for NUL characters and deep nesting."""
    pending: list[tuple[Any, int]] = [(value, 1)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, str):
            if "\x00" in node:
                raise InvalidRequest("The body holds a NUL character (\\u0000). Remove it.")
        elif isinstance(node, dict | list):
            if depth > MAX_DEPTH:
                raise InvalidRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")
            if isinstance(node, dict):
                pending.extend((key, depth) for key in node)
                pending.extend((child, depth + 1) for child in node.values())
            else:
                pending.extend((child, depth + 1) for child in node)
