"""What the two engines say to each other, encoded with msgspec.

To the prefill engine: a `PrefillRequest` on a socket of its own, then a `CancelPrefill` on the same
one if the peer no longer waits. Back: one `PrefillAnswer`.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class PrefillRequest(msgspec.Struct, frozen=True, tag="prefill"):
    """Compute this prompt and hand over its full blocks."""

    model: str
    """`BlockTransfer.fingerprint` of the engine that asks."""
    token_ids: list[int]
    cache_salt: str = ""
    segment: str = ""
    """Shared memory of the peer (`payload.Segment`) that the blocks are written to; in the answer
    where empty."""
    timeout_s: float | None = None
    """After so many seconds the peer no longer waits."""
    api_key: str = ""
    """The options of the prefill engine."""


class CancelPrefill(msgspec.Struct, frozen=True, tag="cancel"):
    """The peer no longer waits for the answer to what this socket asked."""


ToPrefill = PrefillRequest | CancelPrefill


class Refusal(StrEnum):
    """Why an answer has no blocks."""

    INVALID_MESSAGE = "invalid_message"
    WRONG_KEY = "wrong_key"
    OTHER_MODEL = "other_model"
    """Another model, type or block size is served there."""
    INVALID_PROMPT = "invalid_prompt"
    """It cannot be computed by any engine with this model."""
    FAILED = "failed"
    """The step failed, or the blocks could not be handed over."""

    @property
    def is_of_prompt(self) -> bool:
        """Whether another prompt of the same peer may be answered."""
        return self in (Refusal.INVALID_PROMPT, Refusal.FAILED)


class PrefillAnswer(msgspec.Struct, frozen=True):
    """The blocks, or why there are none."""

    num_blocks: int = 0
    data: bytes = b""
    """Empty where the request named a segment."""
    refusal: Refusal | None = None
    error: str = ""
    """Of a refusal: what is wrong, with which value."""
