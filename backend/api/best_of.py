"""`best_of` of completions: more candidates are generated than answered, the likeliest are kept.

Each candidate is a choice like any other: checked, counted and billed. Which of a prompt's are
best is their mean log probability a token, known at the end, so nothing is streamed. Source:
OpenAI's API reference, "Create completion".
"""

from dataclasses import replace
from typing import Any
from uuid import UUID

from backend.api.generations import COMPLETIONS, Shape
from backend.api.schemas.openai_completions import CompletionRequest
from backend.generation.completion import Completion, CompletionChoice


class BestOf(Shape):
    """Of each prompt's `candidates` the `n` likeliest."""

    def __init__(self, n: int, candidates: int, *, shows_logprobs: bool) -> None:
        self._n = n
        self._candidates = candidates
        self._shows_logprobs = shows_logprobs

    def whole(self, generation_id: UUID, completion: Completion) -> dict[str, Any]:
        kept: list[CompletionChoice] = []
        for first in range(0, len(completion.choices), self._candidates):
            group = completion.choices[first : first + self._candidates]
            kept += sorted(group, key=_likelihood, reverse=True)[: self._n]
        choices = [
            replace(
                choice,
                index=index,
                logprobs=choice.logprobs if self._shows_logprobs else None,
            )
            for index, choice in enumerate(kept)
        ]
        return super().whole(generation_id, replace(completion, choices=choices))


def completion_shape(body: CompletionRequest) -> Shape:
    """How the answer of `body` is told."""
    if body.candidates == (body.n or 1):
        return COMPLETIONS
    return BestOf(body.n or 1, body.candidates, shows_logprobs=body.logprobs is not None)


def _likelihood(choice: CompletionChoice) -> float:
    """The mean log probability of its tokens; of one without any (it was withheld) the least."""
    values = [value for value in (choice.logprobs or {}).get("token_logprobs") or () if value]
    return sum(values) / len(values) if values else float("-inf")
