"""One random request: a route of the schema, with the victim's ids wherever an id could stand.

Two kinds, by chance: the victim's ids in the path, among one's own; or one's own in the path, and
the victim's in query, headers and body.
"""

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import quote

from tests.tenancy.routes import ABSENT, BODIES

# Of every organization alike, or of none: an answer of these shows nobody's.
SHARED_IDS = frozenset({"model_id", "kind", "rate_limit_id", "announcement_id", "role_id"})
_HEADERS = ("OpenAI-Organization", "OpenAI-Project", "X-Organization-Id", "X-Forwarded-User")
_EXTRA_QUERY = ("organization_id", "project_id", "project_ids[]", "user_ids[]", "conversation_id")
_WORDS = ("", "a", "taken over", "2026-11-01T00:00:00Z", "example.org", "a@example.org", "auto")
_MAX_DEPTH = 5


@dataclass(frozen=True, slots=True)
class Route:
    """An operation of the OpenAPI document."""

    method: str
    path: str
    path_parameters: tuple[str, ...]
    query: dict[str, Any]
    body: dict[str, Any] | None
    is_multipart: bool

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(slots=True)
class Try:
    """A request as httpx takes it."""

    route: Route
    url: str
    is_foreign: bool
    """Whether the path names something of the victim's."""
    query: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    json: Any = None
    files: dict[str, Any] | None = None
    data: dict[str, Any] | None = None

    def options(self) -> dict[str, Any]:
        chosen = {"params": self.query, "headers": self.headers}
        if self.files is not None:
            return {**chosen, "files": self.files, "data": self.data}
        return chosen if self.json is None else {**chosen, "json": self.json}

    def __str__(self) -> str:
        sent = {"query": self.query, "headers": self.headers, "body": self.json or self.data}
        return f"{self.route.method} {self.url} {json.dumps(sent)}"


def routes_of(document: dict[str, Any]) -> list[Route]:
    return [
        _route(method.upper(), path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
    ]


def _route(method: str, path: str, operation: dict[str, Any]) -> Route:
    parameters = operation.get("parameters", [])
    content = operation.get("requestBody", {}).get("content", {})
    is_multipart = "multipart/form-data" in content
    body = content.get("multipart/form-data") or content.get("application/json") or {}
    return Route(
        method,
        path,
        tuple(part.partition("}")[0] for part in path.split("{")[1:]),
        {each["name"]: each["schema"] for each in parameters if each["in"] == "query"},
        body.get("schema"),
        is_multipart,
    )


class Tries:
    """Random requests, the same ones for the same seed.

    Args:
        foreign: the victim's ids, by the name of their path parameter.
        more: other ids of the victim's: of rows that no path names.
        own: the caller's, by the same names.
    """

    def __init__(
        self,
        document: dict[str, Any],
        random: Random,
        foreign: dict[str, str],
        more: list[str],
        own: dict[str, str],
    ) -> None:
        self._schemas = document.get("components", {}).get("schemas", {})
        self._random = random
        self._foreign = foreign
        self._all = [*foreign.values(), *more]
        self.own = own

    def new(self, route: Route) -> Try:
        tenants = [name for name in route.path_parameters if name not in SHARED_IDS]
        # Ones' own things are not deleted: the next tries need them.
        is_foreign = bool(tenants) and (route.method == "DELETE" or self._random.random() < 0.6)
        foreign = set()
        if is_foreign:
            foreign = {self._random.choice(tenants)}
            foreign |= {name for name in tenants if self._random.random() < 0.5}
        ids = {
            name: self._of_victim(name) if name in foreign else self.own.get(name, ABSENT)
            for name in route.path_parameters
        }
        made = Try(
            route,
            route.path.format(**{name: quote(value, safe="") for name, value in ids.items()}),
            is_foreign,
            query=self._query(route),
            headers=self._headers(),
        )
        if route.is_multipart:
            made.files = {"file": ("a.txt", b"taken over")}
            made.data = self._form(route)
        elif route.body is not None:
            made.json = self._body(route)
        return made

    def _of_victim(self, name: str) -> str:
        """Mostly of the right kind."""
        usual = self._foreign.get(name)
        return usual if usual and self._random.random() < 0.85 else self._any_id()

    def _any_id(self) -> str:
        return self._random.choice(self._all)

    def _query(self, route: Route) -> dict[str, Any]:
        query = {
            name: self._value(schema, name)
            for name, schema in route.query.items()
            if self._random.random() < 0.5 and name != "stream"
        }
        for name in _EXTRA_QUERY:
            if self._random.random() < 0.1:
                query[name] = self._any_id()
        return {name: value for name, value in query.items() if not isinstance(value, dict)}

    def _headers(self) -> dict[str, str]:
        return {name: self._any_id() for name in _HEADERS if self._random.random() < 0.1}

    def _form(self, route: Route) -> dict[str, Any]:
        made = self._value(route.body or {}, "")
        fields = made if isinstance(made, dict) else {}
        text = {name: value for name, value in fields.items() if isinstance(value, str)}
        return {"purpose": "batch"} | {name: text[name] for name in text if name != "file"}

    def _body(self, route: Route) -> Any:
        """A valid one with an id of the victim's in it, or one from the schema."""
        valid = BODIES.get((route.method, route.path))
        if valid and self._random.random() < 0.5:
            return self._with_an_id(valid)
        return self._value(route.body or {}, "")

    def _with_an_id(self, body: dict[str, Any]) -> dict[str, Any]:
        """The same body, one value of which is the victim's id."""
        copy = json.loads(json.dumps(body))
        place = copy
        while True:
            key = self._random.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if not isinstance(place[key], dict | list) or not place[key]:
                place[key] = self._any_id()
                return dict(copy)
            place = place[key]

    def _value(self, schema: dict[str, Any], name: str, depth: int = 0) -> Any:
        """Something of a schema; of a text, most often the victim's id."""
        random = self._random
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[1]]
        for union in ("anyOf", "oneOf", "allOf"):
            if union in schema:
                return self._value(random.choice(schema[union]), name, depth)
        if "const" in schema or "enum" in schema:
            return random.choice(schema.get("enum") or [schema["const"]])
        match schema.get("type"):
            case "object":
                return self._object(schema, depth)
            case "array":
                if depth > _MAX_DEPTH:
                    return []
                items = schema.get("items", {})
                return [self._value(items, name, depth + 1) for _ in range(random.randint(1, 2))]
            case "integer":
                least = int(schema.get("minimum", 0))
                return random.randint(least, min(least + 20, int(schema.get("maximum", 1 << 30))))
            case "number":
                return random.choice([0, 1, 0.5])
            case "boolean":
                return random.random() < 0.5
            case "null":
                return None
            case _:
                return self._text(name)

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        return {
            each: self._value(of, each, depth + 1)
            for each, of in schema.get("properties", {}).items()
            if each in required or (depth < _MAX_DEPTH and self._random.random() < 0.3)
        }

    def _text(self, name: str) -> str:
        if name in self._foreign and self._random.random() < 0.7:
            return self._foreign[name]
        return self._any_id() if self._random.random() < 0.7 else self._random.choice(_WORDS)
