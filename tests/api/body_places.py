"""Request bodies from the OpenAPI document: their schemas, smallest values, and places to fill."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import orjson

from backend.api.application import api

Node = dict[str, Any]
Build = Callable[[Any], Any]

_SHORT = {
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
}


@dataclass(frozen=True)
class Place:
    """A list or an object of any keys, in the body of an operation."""

    operation: tuple[str, str]
    name: str
    node: Node
    build: Build


def _in_list(build: Build, item: Any) -> Any:
    return build([item])


def _in_field(build: Build, whole: Node, field: str, value: Any) -> Any:
    return build({**whole, field: value})


class Document:
    @cached_property
    def content(self) -> Node:
        content: Node = orjson.loads(api.document().body)
        return content

    def operations(self) -> Iterator[tuple[str, str, Node]]:
        for path, methods in self.content["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def bodies(self, kind: str = "application/json") -> Iterator[tuple[str, str, Node]]:
        for method, path, operation in self.operations():
            content = operation.get("requestBody", {}).get("content", {})
            if kind in content:
                yield method, path, content[kind]["schema"]

    def resolved(self, node: Node) -> tuple[str, Node]:
        """The schema itself, with the name under which the document has it."""
        name = ""
        while "$ref" in node or ("allOf" in node and len(node["allOf"]) == 1):
            if "$ref" not in node:
                node = node["allOf"][0]
                continue
            name = node["$ref"].rpartition("/")[2]
            node = self.content["components"]["schemas"][name]
        return name, node

    def branches(self, node: Node) -> list[Node]:
        found = [
            branch
            for kind in ("anyOf", "oneOf")
            for one in node.get(kind, ())
            for branch in self.branches(self.resolved(one)[1])
        ]
        return found or [node]

    def smallest(self, node: Node) -> Any:
        """A short value that the schema allows, as far as the schema says."""
        node = self.branches(self.resolved(node)[1])[0]
        if "const" in node or "enum" in node:
            return node.get("const", node.get("enum", [None])[0])
        match node.get("type"):
            case "object":
                fields = node.get("properties", {})
                return {name: self.smallest(fields[name]) for name in node.get("required", ())}
            case "array":
                return [self.smallest(node["items"])] * node.get("minItems", 0)
            case "string":
                return _SHORT.get(node.get("format", ""), "a" * max(1, node.get("minLength", 0)))
            case "integer" | "number":
                return max(1, node.get("minimum", 1))
            case "boolean":
                return True
        return None

    def places(self) -> Iterator[Place]:
        """Each list, each object of any keys, once: where the first operation has it."""
        seen: set[str] = set()
        for method, path, schema in self.bodies():
            name = self.resolved(schema)[0] or f"{method} {path}"
            yield from self._places((method, path), name, schema, lambda value: value, seen)

    def _places(
        self, operation: tuple[str, str], name: str, node: Node, build: Build, seen: set[str]
    ) -> Iterator[Place]:
        named, node = self.resolved(node)
        name = named or name
        if named and named in seen:
            return
        seen.add(named)
        for branch in self.branches(node):
            fields = branch.get("properties", {})
            if branch.get("type") == "array":
                yield Place(operation, f"{name}[]", branch, build)
                yield from self._places(
                    operation, f"{name}[]", branch["items"], partial(_in_list, build), seen
                )
            elif branch.get("type") == "object" and not fields:
                yield Place(operation, name, branch, build)
            else:
                whole = self.smallest(branch)
                for field, schema in fields.items():
                    yield from self._places(
                        operation,
                        f"{name}.{field}",
                        schema,
                        partial(_in_field, build, whole, field),
                        seen,
                    )

    def values(self) -> Iterator[tuple[str, Node]]:
        """Each value of a request, but those of its path, with the schema that it has to meet."""
        seen: set[str] = set()
        for method, path, operation in self.operations():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] != "path":
                    name = f"{method} {path} {parameter['name']}"
                    yield from self._values(name, parameter["schema"], seen)
            for content in operation.get("requestBody", {}).get("content", {}).values():
                yield from self._values(f"{method} {path}", content["schema"], seen)

    def _values(self, name: str, node: Node, seen: set[str]) -> Iterator[tuple[str, Node]]:
        named, node = self.resolved(node)
        if named and named in seen:
            return
        seen.add(named)
        name = named or name
        for branch in self.branches(node):
            yield name, branch
            if "items" in branch:
                yield from self._values(f"{name}[]", branch["items"], seen)
            if isinstance(branch.get("additionalProperties"), dict):
                yield from self._values(f"{name}{{}}", branch["additionalProperties"], seen)
            for field, schema in branch.get("properties", {}).items():
                yield from self._values(f"{name}.{field}", schema, seen)
