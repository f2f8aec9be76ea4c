"""A prompt and the check of what is answered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

MAX_TOKENS = 320


@dataclass(frozen=True)
class Case:
    prompt: str
    is_right: Callable[[str], bool]
    """Of the text of the answer."""
    parameters: dict[str, Any] = field(default_factory=dict)
    """Of the request, besides those that all have."""


@dataclass(frozen=True)
class Answer:
    text: str
    looped: bool
    """Whether the engine ended it because it repeated itself."""


class Asker:
    """Asks a served model, greedily."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=600)

    def choice(self, messages: list[dict[str, Any]], **parameters: Any) -> dict[str, Any]:
        """The first choice, as the API gives it.

        Raises:
            httpx.HTTPStatusError: when the server refuses.
        """
        body = {"messages": messages, "temperature": 0, "max_tokens": MAX_TOKENS} | parameters
        answer = self._http.post("/v1/chat/completions", json=body)
        answer.raise_for_status()
        choice: dict[str, Any] = answer.json()["choices"][0]
        return choice

    def answer(self, case: Case) -> Answer:
        choice = self.choice([{"role": "user", "content": case.prompt}], **case.parameters)
        details = choice.get("finish_details") or {}
        return Answer(choice["message"]["content"] or "", details.get("type") == "loop")
