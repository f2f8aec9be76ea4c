"""What pydantic found wrong with a request, as one OpenAI error that names the parameter.

Pydantic's path to a problem holds names of ours between the client's: of the branches of a
union (`str`, `list[...]`, `text`). The request itself tells them apart: what is not in it is
not the client's.
"""

from collections.abc import Sequence
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from backend.platform.errors import InvalidRequest

Model = TypeVar("Model", bound=BaseModel)
Location = Sequence[str | int]

_ABSENT = object()
_MAX_NAME = 100
_MISSING = ("missing", "union_tag_not_found")


def invalid_request_from(problems: list[dict[str, Any]], body: bytes) -> InvalidRequest:
    """The most specific problem: of a union's branches, the one that got furthest. A list is too
    long only where its items were right.

    Args:
        problems: pydantic's, each `loc` after ninja's source (`body`, `query`, `path`).
        body: of the request, as it came; it has been parsed before.
    """
    problem = max(problems, key=lambda one: (one["type"] == "too_long", len(one["loc"])))
    source, *location = problem["loc"]
    if source == "body":
        # The first name is the argument of our function that takes the body.
        location = _in_request(
            [*location[1:], *_tag_of(problem)], body, may_miss_last=problem["type"] in _MISSING
        )
    param = dotted(location) or None
    message = str(problem["msg"]).removeprefix("Value error, ").rstrip(".")
    where = f"'{param}': " if param else "The request body: " if source == "body" else ""
    return InvalidRequest(f"{where}{message}.", param=param, code=_code_for(problem["type"]))


def validated(model: type[Model], data: dict[str, Any], *, param: str) -> Model:
    """`data`, which we have made of a request, as `model`.

    Raises:
        InvalidRequest: naming `param`, where that has no problem of its own that says more.
    """
    try:
        return model.model_validate(data)
    except ValidationError as found:
        message = str(found.errors()[0]["msg"]).removeprefix("Value error, ").rstrip(".")
        raise InvalidRequest(f"'{param}': {message}.", param=param, code="invalid_value") from None


def dotted(location: Location) -> str:
    """`("messages", 0, "role")` as `messages[0].role`; a name of the client's may be very long."""
    text = ""
    for name in location:
        short = str(name)[:_MAX_NAME]
        text += f"[{name}]" if isinstance(name, int) else f".{short}" if text else short
    return text


def _tag_of(problem: dict[str, Any]) -> list[str]:
    """The field that says which of several kinds an object is, where that is what is wrong."""
    if not problem["type"].startswith("union_tag"):
        return []
    name = str(problem.get("ctx", {}).get("discriminator", "")).strip("'")
    return [name if name.isidentifier() else "type"]


def _in_request(location: Location, body: bytes, *, may_miss_last: bool) -> list[str | int]:
    """`location` without the names that are not in the request."""
    try:
        node = orjson.loads(body)
    except orjson.JSONDecodeError:
        node = None  # no body at all: everything is missing
    return list(_found(node, tuple(location), may_miss_last)[1])


def _found(
    node: Any, location: tuple[str | int, ...], may_miss_last: bool
) -> tuple[tuple[bool, int], tuple[str | int, ...]]:
    """The way down that meets the last name, and then most of the others: the name of a branch
    may also be that of a field (`text`).

    Returns:
        Whether it met the last name, and how many; the names.
    """
    if not location:
        return (False, 0), ()
    name, rest = location[0], location[1:]
    _, skipping = skipped = _found(node, rest, may_miss_last)
    child = _child(node, name)
    if child is not _ABSENT:
        (meets, count), names = _found(child, rest, may_miss_last)
        taken = (meets or not rest, count + 1), (name, *names)
        return max(taken, skipped, key=lambda way: way[0])
    if may_miss_last and not rest and not skipping:
        return (isinstance(node, dict), int(isinstance(node, dict))), (name,)
    return skipped


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
