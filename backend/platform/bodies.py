"""The base of request bodies: strict, and with few errors however long a wrong body is.

Pydantic has no bound on its errors, and each takes some kilobytes. So a list ends at its first
wrong item, and a body with many unknown fields is answered for the first of them.
"""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    model_validator,
)
from pydantic_core import CoreSchema

MAX_TEXT = 4 << 20
"""Characters of a text, where nothing else bounds it: as long as a body may be by default."""
MAX_ITEMS = 2_000
MAX_PROPERTIES = 10_000

Text = Annotated[str, Field(max_length=MAX_TEXT)]
JsonObject = Annotated[dict[str, Any], Field(max_length=MAX_PROPERTIES)]


def entries_at_most(number: int) -> BeforeValidator:
    """Refuse a longer dictionary before each of its entries can be an error."""

    def check(value: Any) -> Any:
        if isinstance(value, dict) and len(value) > number:
            raise ValueError(f"at most {number} entries are allowed, got {len(value)}")
        return value

    return BeforeValidator(check)


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        schema = list(schema.values())
    if isinstance(schema, list | tuple):
        for child in schema:
            yield from _nodes(child)


class RequestModel(BaseModel):
    """A request body: no coercion of types, no unknown fields; both are a 400 that names it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def keep_one_unknown_field(cls, data: Any) -> Any:
        if not isinstance(data, dict) or len(data) <= len(cls.model_fields):
            return data
        known = {field.alias or name for name, field in cls.model_fields.items()}
        unknown = next((name for name in data if name not in known), None)
        return {name: value for name, value in data.items() if name in known or name == unknown}

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: type[BaseModel], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema = handler(source)
        for node in _nodes(schema):
            if node.get("type") == "list":
                node["fail_fast"] = True
        return schema
