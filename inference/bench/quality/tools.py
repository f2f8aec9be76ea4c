"""How often a model calls tools as it should.

It calls the weather function with the city that was asked for, it says what the function gave, and
it calls twice where two cities were asked for, and not at all where no function is of use.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from inference.bench.quality.case import Asker

_CITIES = ("Paris", "Tokyo", "Nairobi", "Oslo", "Lima", "Cairo")
_ONE = (
    "What is the weather like in {} right now?",
    "Do I need an umbrella in {} today?",
)
_TWO = "What is the weather in {} and in {} right now?"
_NONE = (
    "Hello, who are you?",
    "What is the capital of France?",
    "Tell me a joke.",
    "What is 2 + 2?",
    "Thanks, that helped!",
    "Write a Python function that reverses a string.",
    "Translate 'good morning' to Spanish.",
    "Explain what an e-mail is.",
    "Write a JSON object that describes a person with name and age.",
    "How does a weather forecast come about?",
    "Name three rivers of Europe.",
    "Is seven a prime number?",
)
_WEATHERS = ("sunny", "rainy", "snowy", "foggy")

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city now.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "The city's name"}},
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "send_email",
            "description": "Send an e-mail.",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "body": {"type": "string"}},
                "required": ["to", "body"],
            },
        },
    },
]


class Calls:
    """What a model calls, with `tool_choice: "auto"`."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def message(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        message: dict[str, Any] = self._asker.choice(messages, tools=TOOLS)["message"]
        return message

    def calls(self, question: str) -> list[tuple[str, Any]]:
        message = self.message([{"role": "user", "content": question}])
        return [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls") or ()
        ]

    def calls_for(self, question: str, *cities: str) -> bool:
        """Whether it calls for exactly these cities."""
        wanted = [("get_weather", city) for city in cities]
        called = self.calls(question)
        return sorted((name, given.get("city")) for name, given in called) == sorted(wanted)

    def answers_alone(self, question: str) -> bool:
        """Whether it answers without a call."""
        message = self.message([{"role": "user", "content": question}])
        return bool(message["content"]) and not message.get("tool_calls")

    def uses_result(self, city: str, weather: str) -> bool:
        """Whether it says what a call gave, and calls no more."""
        arguments = json.dumps({"city": city})
        function = {"name": "get_weather", "arguments": arguments}
        message = self.message(
            [
                {"role": "user", "content": _ONE[0].format(city)},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
                },
                {"role": "tool", "tool_call_id": "call_1", "content": f"{weather}, 17 degrees"},
            ]
        )
        said = (message["content"] or "").lower()
        return not message.get("tool_calls") and weather[:4] in said


def rates(asker: Asker) -> dict[str, list[Callable[[], bool]]]:
    """What is measured, and its cases: whether each came out right."""
    calls = Calls(asker)
    return {
        "calls the weather tool": _one_call(calls),
        "uses its result": _results(calls),
        "calls two at once": _two_calls(calls),
        "calls nothing where nothing is needed": [
            lambda text=text: calls.answers_alone(text)  # type: ignore[misc]
            for text in _NONE
        ],
    }


def _one_call(calls: Calls) -> list[Callable[[], bool]]:
    return [
        lambda text=text, city=city: calls.calls_for(text.format(city), city)  # type: ignore[misc]
        for text in _ONE
        for city in _CITIES
    ]


def _results(calls: Calls) -> list[Callable[[], bool]]:
    return [
        lambda city=city, at=at: calls.uses_result(city, _WEATHERS[at % 4])  # type: ignore[misc]
        for at, city in enumerate(_CITIES)
    ]


def _two_calls(calls: Calls) -> list[Callable[[], bool]]:
    pairs = zip(_CITIES, _CITIES[1:] + _CITIES[:1], strict=True)
    return [
        lambda one=one, two=two: calls.calls_for(_TWO.format(one, two), one, two)  # type: ignore[misc]
        for one, two in pairs
    ]
