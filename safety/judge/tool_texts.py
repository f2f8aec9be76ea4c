"""What a tool's definition says to a model, read as the untrusted content that it is.

Whoever writes a tool server writes its tools' names, descriptions and schemas, and a model takes
all of them for words of its operator. So each text is read for orders, alone and together with the
others: an order may be cut over several fields, or be a name.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from safety.judge.windows import SUSPECT_FROM, order_spans

MAX_SHOWN = 1_000
"""Characters of what reads like orders that are kept for a person."""

_MIN_WORDS = 3
_MAX_TEXTS = 200
_NAME = re.compile(r"[\w.-]+")
_BORDER = re.compile(r"[_.-]+|(?<=[a-z])(?=[A-Z])")
_GRAMMAR = frozenset(
    (
        *("type", "object", "string", "number", "integer", "boolean", "array", "null"),
        *("properties", "required", "items", "description", "title", "default", "enum", "format"),
        *("additionalProperties", "anyOf", "oneOf", "allOf", "const", "examples", "pattern"),
        *("minimum", "maximum", "minLength", "maxLength"),
    )
)
"""Words of JSON Schema, which say nothing to a model."""


def orders_in_tool(function: Mapping[str, Any]) -> str:
    """What of a tool reads like orders to a model, for a person to look at; "" for nothing.
    CPU-bound, some milliseconds a text.

    Args:
        function: OpenAI's object, with whatever texts it has.
    """
    texts = list(dict.fromkeys(_texts(function)))
    alone = sorted((one for one in texts if len(one.split()) >= _MIN_WORDS), key=len)
    for text in (*alone[-_MAX_TEXTS:], "\n\n".join(texts)):
        if spans := order_spans(text, threshold=SUSPECT_FROM):
            return "\n\n".join(text[start:end].strip() for start, end in spans)[:MAX_SHOWN]
    return ""


def _texts(value: Any) -> Iterator[str]:
    """Every text in order, names in words; without the words of JSON Schema."""
    if isinstance(value, str):
        if value not in _GRAMMAR:
            yield _BORDER.sub(" ", value).strip() if _NAME.fullmatch(value) else value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(key)
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
