"""JSON that parses and has what was asked for: in words alone, and by a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from inference.bench.quality.case import Case

_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
Check = Callable[[Any], bool]

_ASKED: tuple[tuple[str, dict[str, Any], Check], ...] = (
    (
        "Extract the name and the age from: 'Maria Lopez turned 34 last May.'",
        {"name": {"type": "string"}, "age": {"type": "integer"}},
        lambda given: "Maria" in given["name"] and given["age"] == 34,
    ),
    (
        "Which city and which day does this mail name? 'See you in Lisbon on Friday!'",
        {"city": {"type": "string"}, "day": {"type": "string"}},
        lambda given: given["city"] == "Lisbon" and given["day"] == "Friday",
    ),
    (
        "List the three primary colours of light.",
        {"colours": {"type": "array", "items": {"type": "string"}}},
        lambda given: {c.lower() for c in given["colours"]} == {"red", "green", "blue"},
    ),
    (
        "Is this review positive? 'The soup was cold and the waiter rude.'",
        {"positive": {"type": "boolean"}},
        lambda given: given["positive"] is False,
    ),
    (
        "Split 'John Fitzgerald Kennedy' into first, middle and last name.",
        {part: {"type": "string"} for part in ("first", "middle", "last")},
        lambda given: (given["first"], given["last"]) == ("John", "Kennedy"),
    ),
    (
        "An order: two coffees at 3 euros and one cake at 4 euros. Give the total in euros.",
        {"total": {"type": "number"}},
        lambda given: given["total"] == 10,
    ),
    (
        "Translate 'good morning' to French and to Spanish.",
        {"french": {"type": "string"}, "spanish": {"type": "string"}},
        lambda given: "bonjour" in given["french"].lower() and "buenos" in given["spanish"].lower(),
    ),
    (
        "Give the chemical symbols of gold and silver.",
        {"gold": {"type": "string"}, "silver": {"type": "string"}},
        lambda given: given == {"gold": "Au", "silver": "Ag"},
    ),
)


def by_words() -> list[Case]:
    """Nothing but the prompt asks for JSON."""
    return [
        Case(
            f"{prompt} Answer with one JSON object with the keys {', '.join(keys)}, nothing else.",
            _holds(keys, check),
        )
        for prompt, keys, check in _ASKED
    ]


def by_schema() -> list[Case]:
    """The request holds the answer to a schema."""
    return [
        Case(prompt, _holds(keys, check), {"response_format": _format(keys)})
        for prompt, keys, check in _ASKED
    ]


def _format(keys: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": keys,
        "required": list(keys),
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }


def _holds(keys: dict[str, Any], check: Check) -> Callable[[str], bool]:
    def is_right(text: str) -> bool:
        fenced = _FENCE.search(text)
        try:
            given = json.loads(fenced.group(1) if fenced else text)
            return set(given) == set(keys) and check(given)
        except (ValueError, TypeError, KeyError, AttributeError):
            return False

    return is_right
