"""Token counts of a request, as OpenAI reports them, while it runs and for a while afterwards."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from inference.server.choice_text import Delta
from inference.server.http import json_response
from inference.server.prepare import PreparedPrompt
from inference.server.recent import RecentUsage

USAGE_KEY_HEADER = "X-Usage-Key"
_WELL_FORMED = re.compile(r"[\x21-\x7e]{1,128}")


class UsageCount:
    """Follows the deltas of all choices. `n` choices of one prompt count it once."""

    def __init__(self, prepared: list[PreparedPrompt], n: int) -> None:
        self._prompt = sum(len(prompt.prompt_token_ids) for prompt in prepared)
        self._images = [prompt.images for prompt in prepared]
        self._n = n
        self._generated: dict[int, int] = {}
        self._cached: dict[int, int] = {}
        self._thought: dict[int, int] = {}
        self._predicted: dict[int, tuple[int, int]] = {}

    def take(self, delta: Delta) -> None:
        self._generated[delta.index] = delta.generated
        self._predicted[delta.index] = delta.predicted
        if delta.index % self._n == 0:
            self._cached[delta.index] = delta.cached_tokens

    def take_thought(self, delta: Delta) -> None:
        """Up to here a choice has thought."""
        self._thought[delta.index] = delta.generated

    def report(self) -> dict[str, Any]:
        completion = sum(self._generated.values())
        images = sum(image.num_tokens for images in self._images for image in images)
        return {
            "prompt_tokens": self._prompt,
            "completion_tokens": completion,
            "total_tokens": self._prompt + completion,
            "prompt_tokens_details": {
                "cached_tokens": sum(self._cached.values()),
                **({"image_tokens": images, **self._cached_images()} if images else {}),
            },
            "completion_tokens_details": {
                "reasoning_tokens": sum(self._thought.values()),
                "accepted_prediction_tokens": sum(right for right, _ in self._predicted.values()),
                "rejected_prediction_tokens": sum(wrong for _, wrong in self._predicted.values()),
            },
        }

    def _cached_images(self) -> dict[str, Any]:
        """Of cached tokens, those of images: both are counted as `prompt_tokens` once."""
        cached = sum(
            min(max(end - image.start, 0), image.num_tokens)
            for index, end in self._cached.items()
            for image in self._images[index // self._n]
        )
        return {"cached_tokens_details": {"image_tokens": cached}} if cached else {}


async def remembered(
    deltas: AsyncGenerator[Delta, None],
    usage: UsageCount,
    recent: RecentUsage,
    request: Request,
) -> AsyncGenerator[Delta, None]:
    """`deltas`, and when they end, in whatever way, their count goes to `recent`.

    Args:
        usage: must have taken each delta before the next one is asked for.
    """
    key = request.headers.get(USAGE_KEY_HEADER, "")
    try:
        async with aclosing(deltas):
            async for delta in deltas:
                yield delta
    finally:
        if _WELL_FORMED.fullmatch(key):
            recent.add(
                key,
                {
                    "request_id": request.state.headers["X-Request-Id"],
                    "ended_at": time.time(),
                    "usage": usage.report(),
                },
            )


async def usage_of(request: Request) -> Response:
    """`GET /usage/{key}`: what the requests with this `X-Usage-Key` used; 404 where none ended."""
    recent: RecentUsage = request.app.state.server.recent
    found = recent.find(request.path_params["key"])
    if found is None:
        message = "no request with this key has ended recently"
        error = {"message": message, "type": "not_found_error", "code": None, "param": None}
        return json_response({"error": error}, 404, headers=request.state.headers)
    return json_response({"requests": found}, headers=request.state.headers)
