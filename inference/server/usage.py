"""Token counts of a request, as OpenAI reports them."""

from __future__ import annotations

from typing import Any

from inference.server.generation import Delta, Plan


class UsageCount:
    """Follows the deltas of all choices. `n` choices of one prompt count it once."""

    def __init__(self, plans: list[Plan], n: int) -> None:
        self._prompt = sum(len(plan.prompt_token_ids) for plan in plans)
        self._n = n
        self._generated: dict[int, int] = {}
        self._cached: dict[int, int] = {}

    def take(self, delta: Delta) -> None:
        self._generated[delta.index] = delta.generated
        if delta.index % self._n == 0:
            self._cached[delta.index] = delta.cached_tokens

    def report(self) -> dict[str, Any]:
        completion = sum(self._generated.values())
        return {
            "prompt_tokens": self._prompt,
            "completion_tokens": completion,
            "total_tokens": self._prompt + completion,
            "prompt_tokens_details": {"cached_tokens": sum(self._cached.values())},
        }
