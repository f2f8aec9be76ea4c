"""The order of requests: who runs first, and how much of a prompt is left to compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inference.config import SchedulerConfig
from inference.core import Chunk, Request
from inference.scheduler.prefill_budget import LONG_PREFILL_TOKENS


def queue_key(config: SchedulerConfig, request: Request) -> tuple[float, str]:
    """When the request counts as arrived; smaller runs sooner.

    A priority level, or an expected token, is worth a fixed time of waiting. All
    waiting requests age alike, so the order between two never changes, and every
    request is first at some time: nothing starves.
    """
    if config.policy == "priority":
        handicap = request.priority * config.priority_seconds
    elif config.policy == "shortest":
        expected = len(request.prompt_token_ids) + request.sampling.max_tokens
        handicap = expected * config.token_seconds
    else:
        handicap = 0.0
    return request.arrived_at + handicap, request.request_id


def tokens_left(request: Request, chunks: Mapping[str, Chunk] | None = None) -> int:
    """Known tokens that are not computed, nor part of `chunks` by request id."""
    chunk = (chunks or {}).get(request.request_id)
    return request.num_tokens - (chunk.end if chunk else request.num_computed)


def is_prefilling(request: Request) -> bool:
    return tokens_left(request) > 1


def long_prompts(running: Sequence[Request], chunks: Mapping[str, Chunk]) -> dict[Request, int]:
    """The long prompts that are being computed, with what is left of each after `chunks`."""
    left = {request: tokens_left(request, chunks) for request in running if is_prefilling(request)}
    return {request: tokens for request, tokens in left.items() if tokens >= LONG_PREFILL_TOKENS}
