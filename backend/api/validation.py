"""What pydantic found wrong with a request, as one OpenAI error that names the parameter.

Pydantic's path to a problem holds names of ours between the client's: of the branches of a
union (`str`, `list[...]`, `text`). The request itself tells them apart: what is not in it is
not the client's.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from backend.platform.errors import InvalidRequest

Location = Sequence[str | int]

_ABSENT = object()


def invalid_request_from(problems: list[dict[str, Any]], body: bytes) -> InvalidRequest:
    """The most specific problem: of a union's branches, the one that got furthest.

    Args:
        problems: pydantic's, each `loc` after ninja's source (`body`, `query`, `path`).
        body: of the request, as it came; it has been parsed before.
    """
    problem = max(problems, key=lambda one: len(one["loc"]))
    source, *location = problem["loc"]
    if source == "body":
        # The first name is the argument of our function that takes the body.
        location = _in_request(location[1:], body, is_missing=problem["type"] == "missing")
    param = dotted(location) or None
    message = str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
    where = f"'{param}': " if param else "The request body: " if source == "body" else ""
    return InvalidRequest(f"{where}{message}.", param=param, code=_code_for(problem["type"]))


def dotted(location: Location) -> str:
    """`("messages", 0, "role")` as `messages[0].role`."""
    text = ""
    for name in location:
        text += f"[{name}]" if isinstance(name, int) else f".{name}" if text else str(name)
    return text


def _in_request(location: Location, body: bytes, *, is_missing: bool) -> list[str | int]:
    """`location` without the names that are not in the request."""
    try:
        node = orjson.loads(body)
    except orjson.JSONDecodeError:
        node = None  # no body at all: everything is missing
    found: list[str | int] = []
    for position, name in enumerate(location):
        child = _child(node, name)
        if child is not _ABSENT:
            node = child
        elif not (is_missing and position == len(location) - 1):
            continue
        found.append(name)
    return found


def _child(node: Any, name: str | int) -> Any:
    if isinstance(node, dict):
        return node.get(name, _ABSENT)
    if isinstance(node, list) and isinstance(name, int) and name < len(node):
        return node[name]
    return _ABSENT


def _code_for(kind: str) -> str:
    if kind == "missing":
        return "missing_required_parameter"
    if kind == "extra_forbidden":
        return "unknown_parameter"
    return "invalid_type" if kind.endswith(("_type", "_parsing")) else "invalid_value"
