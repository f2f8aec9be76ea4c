"""What both ways of having a prefix from elsewhere make of a message: a request that looks a prefix
up or carries blocks into the cache, and how long it may wait."""

from __future__ import annotations

import math

from inference.core import Request
from inference.protocol import AddRequest


def as_request(message: AddRequest) -> Request:
    return Request(
        message.request_id,
        message.prompt_token_ids,
        message.sampling,
        cache_salt=message.cache_salt,
        public_tokens=message.public_tokens,
        wants_embedding=message.wants_embedding,
    )


def time_of_expiry(message: AddRequest, max_wait_s: float | None) -> float:
    """When its deadline passes, or it has waited too long to begin, in the core's clock."""
    deadline = math.inf if message.deadline is None else message.deadline
    return min(deadline, message.arrived_at + max_wait_s) if max_wait_s else deadline
