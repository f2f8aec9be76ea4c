"""No request body multiplies: its schema has bounds, its errors are few, its values fit."""

import tracemalloc
from collections.abc import Iterator
from functools import cache

import orjson
import pytest
from django.test import RequestFactory
from ninja.operation import Operation
from pydantic import ValidationError

from backend.api.application import api
from backend.api.parsing import allowed_cost, cost, loads
from backend.platform.errors import ParleyError
from tests.api.body_places import Document, Node, Place

DOCUMENT = Document()
PLACES = list(DOCUMENT.places())
MAX_ERRORS = 20
LARGE = 1 << 20
ROOM = 20_000
"""For the cost of what is around the list."""

# Items of a list that cost most for their length.
ITEMS = [b"{}", b"[]", b"-6", b'"ab"', b'{"type":"x"}']
# Bounded by the length of the address, or by the digits that they may have.
UNBOUNDED_IN_SCHEMA = {"TopUpIn.amount", "BudgetIn.amount"}


def operation_of(place: Place) -> Operation:
    method, path = place.operation
    name = DOCUMENT.content["paths"][path][method.lower()]["operationId"]
    return next(
        operation
        for _, router in api._routers
        for view in router.path_operations.values()
        for operation in view.operations
        if operation.view_func.__name__ == name and method in operation.methods
    )


def filled(place: Place) -> Iterator[tuple[bytes, bytes]]:
    """Items, and bodies as costly as may be parsed, up to 1 MiB."""
    items = [*ITEMS]
    if place.node.get("type") == "array":
        branches = DOCUMENT.branches(DOCUMENT.resolved(place.node["items"])[1])
        items += [orjson.dumps(DOCUMENT.smallest(branch)) for branch in branches]
    before, _, after = orjson.dumps(place.build("\0")).partition(b'"\\u0000"')
    for item in dict.fromkeys(items):
        yield item, before + b"[" + b",".join([item] * most(item)) + b"]" + after
    entry = b'"000000":0'
    entries = b",".join(b'"%d":0' % (number + 100_000) for number in range(most(entry)))
    yield entry, before + b"{" + entries + b"}" + after


@cache
def most(item: bytes) -> int:
    """How many such items are parsed in one body of at most 1 MiB."""
    least, beyond = 1, LARGE // (len(item) + 1)
    while beyond - least > 1:
        number = (least + beyond) // 2
        if is_parsed(b"[" + b",".join([item] * number) + b"]"):
            least = number
        else:
            beyond = number
    return least


def is_parsed(body: bytes) -> bool:
    return cost(body) + ROOM <= allowed_cost(body)


@cache
def parsed_size(item: bytes) -> int:
    """Bytes of a list of as many items as are parsed, and of the body itself.

    The parser's own working memory does not count: it reserves twelve times the body, and uses
    sixteen bytes of that for a value.
    """
    body = b"[" + b",".join([item] * most(item)) + b"]"
    if b":0" in item:
        body = b"{" + b",".join(b'"%d":0' % (n + 100_000) for n in range(most(item))) + b"}"
    tracemalloc.start()
    value = loads(body)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return size + len(body) if value else 0


def validated(place: Place) -> tuple[int, int]:
    """Read a parsed body as the operation does. Returns the errors, and the bytes held at most."""
    request = RequestFactory().post("/", b"{}", content_type="application/json")
    errors = 0
    tracemalloc.start()
    try:
        for model in operation_of(place).models:
            if model.__ninja_param_source__ == "body":
                model.resolve(request, api, {})
    except ValidationError as refused:
        errors = refused.error_count()
    except ParleyError:
        errors = 1
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return errors, peak


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_body_takes_ten_times_its_length(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for item, body in filled(place):
        value = loads(body)
        monkeypatch.setattr(api.parser, "parse_body", lambda request, value=value: value)
        errors, size = validated(place)
        assert parsed_size(item) + size <= 10 * LARGE, body[:100]
        assert errors <= MAX_ERRORS, body[:100]


def test_lists_and_texts_of_requests_have_bounds() -> None:
    unbounded = {name for name, node in DOCUMENT.values() if not is_bounded(node)}
    assert unbounded == UNBOUNDED_IN_SCHEMA


def is_bounded(node: Node) -> bool:
    match node.get("type"):
        case "string":
            short = {"maxLength", "enum", "const", "pattern"} & node.keys()
            return bool(short) or node.get("format") in {"uuid", "date-time", "date", "binary"}
        case "array":
            return "maxItems" in node
        case "object":
            return (
                "maxProperties" in node
                or "additionalProperties" not in node
                or bool(node.get("properties"))
            )
    return True
