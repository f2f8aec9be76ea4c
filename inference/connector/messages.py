"""What the two engines say to each other, encoded with msgspec.

A message is three zmq frames: an empty one, `VERSION`, what is said; and a fourth with a layer's
bytes, where they do not lie in shared memory. To the prefill engine: a `PrefillRequest` on a socket
of its own, then a `CancelPrefill` on the same one if the peer no longer waits. Back: `LayerBlocks`
while the prompt is computed, then `PrefillDone` or, at any time, `Refused`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

VERSION = b"parley.prefill.2"
"""Peers of another version are refused. The first had no such frame and sent all blocks at once."""


class PrefillRequest(msgspec.Struct, frozen=True, tag="prefill"):
    """Compute this prompt and hand over its full blocks."""

    model: str
    """`BlockTransfer.fingerprint` of the engine that asks."""
    token_ids: list[int]
    cache_salt: str = ""
    first_block: int = 0
    """Blocks before it are in the peer's cache."""
    segment: str = ""
    """Shared memory of the peer (`payload.Segment`) that the blocks are written to, each where
    `BlockTransfer.place` says; in the messages where empty."""
    timeout_s: float | None = None
    """After so many seconds the peer no longer waits."""
    api_key: str = ""
    """The options of the prefill engine."""


class CancelPrefill(msgspec.Struct, frozen=True, tag="cancel"):
    """The peer no longer waits for the answer to what this socket asked."""


ToPrefill = PrefillRequest | CancelPrefill


class LayerBlocks(msgspec.Struct, frozen=True, tag="layer"):
    """Blocks of one layer, those after what was sent of it before."""

    layer: int
    first_block: int
    num_blocks: int


class PrefillDone(msgspec.Struct, frozen=True, tag="done"):
    """All has been sent."""

    num_blocks: int
    """Of the prompt, those before the first that was asked for counted."""
    computed_at: float
    """When the last layer was, by the prefill engine's clock of the day."""


class Refusal(StrEnum):
    """Why a prompt is not computed, or its blocks do not come."""

    OTHER_VERSION = "other_version"
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


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    refusal: Refusal
    error: str
    """What is wrong, with which value."""


FromPrefill = LayerBlocks | PrefillDone | Refused


def frames(message: ToPrefill | FromPrefill, data: bytes = b"") -> list[bytes]:
    """What is sent for a message."""
    said = [b"", VERSION, msgspec.msgpack.encode(message)]
    return [*said, data] if data else said


def said_in(received: Sequence[bytes] | Sequence[memoryview]) -> bytes | memoryview:
    """What a message says, of its frames without the sender's.

    Raises:
        OtherVersionError: when it is of another version.
    """
    version = bytes(received[1][:40]) if len(received) > 2 else b""
    if version != VERSION:
        found = repr(version) if version else "a message without a version"
        raise OtherVersionError(f"{VERSION!r} is spoken here, and not {found}")
    return received[2]


class OtherVersionError(Exception):
    """The peer speaks another version."""
