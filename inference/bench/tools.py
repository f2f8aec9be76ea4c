"""`python -m inference.bench.tools --model PATH`: how often a model calls tools as it should.

Three rates, greedy and with `tool_choice: "auto"`: it calls the weather function with the city that
was asked for, it says what the function gave, and it calls twice where two cities were asked for.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from inference.bench.engine import served

_CITIES = ("Paris", "Tokyo", "Nairobi", "Oslo", "Lima", "Cairo")
_ONE = (
    "What is the weather like in {} right now?",
    "Do I need an umbrella in {} today?",
)
_TWO = "What is the weather in {} and in {} right now?"
_WEATHERS = ("sunny", "rainy", "snowy", "foggy")
_PARALLEL = 4

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


class Asker:
    """Asks a served model."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=300)

    def message(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        body = {"messages": messages, "tools": TOOLS, "temperature": 0, "max_tokens": 160}
        answer = self._http.post("/v1/chat/completions", json=body)
        answer.raise_for_status()
        message: dict[str, Any] = answer.json()["choices"][0]["message"]
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--model", type=Path, required=True)
    args = parser.parse_args()
    with served(args.model, []) as url, ThreadPoolExecutor(_PARALLEL) as pool:
        asker = Asker(url)

        def rate(name: str, cases: list[Callable[[], bool]]) -> None:
            right = sum(pool.map(lambda case: case(), cases))
            print(f"{name}: {right} of {len(cases)} ({right / len(cases):.0%})", flush=True)

        print(f"model: {args.model.name}")
        rate("calls the weather tool", _one_call(asker))
        rate("uses its result", _results(asker))
        rate("calls two at once", _two_calls(asker))


def _one_call(asker: Asker) -> list[Callable[[], bool]]:
    return [
        lambda text=text, city=city: asker.calls_for(text.format(city), city)  # type: ignore[misc]
        for text in _ONE
        for city in _CITIES
    ]


def _results(asker: Asker) -> list[Callable[[], bool]]:
    return [
        lambda city=city, at=at: asker.uses_result(city, _WEATHERS[at % 4])  # type: ignore[misc]
        for at, city in enumerate(_CITIES)
    ]


def _two_calls(asker: Asker) -> list[Callable[[], bool]]:
    pairs = zip(_CITIES, _CITIES[1:] + _CITIES[:1], strict=True)
    return [
        lambda one=one, two=two: asker.calls_for(_TWO.format(one, two), one, two)  # type: ignore[misc]
        for one, two in pairs
    ]


if __name__ == "__main__":
    main()
