"""What every program is asked, so that the figures can stand in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

DECODE_STREAMS = (1, 8, 32)


@dataclass(frozen=True)
class Cases:
    """Sizes of the comparison."""

    context: int = 512
    """Prompt tokens of a stream before its decoding is timed."""
    steps: int = 32
    """Decoded tokens a stream."""
    prefill: tuple[int, ...] = (512, 1000)
    """Lengths of prompts whose time to the first token is taken."""
    repeats: int = 3
    """The median of so many is reported."""
    time_limit_s: float = 30.0
    """A case is not repeated when all its runs together would take longer than this."""
    streams: tuple[int, ...] = DECODE_STREAMS

    def wants_another(self, done: int, seconds: float) -> bool:
        """Whether a case that ran `done` times in so many seconds is to run again."""
        if done == 0:
            return True
        return done < self.repeats and seconds * (1 + 1 / done) <= self.time_limit_s


@dataclass(frozen=True)
class Rates:
    """Tokens a second: decoded by so many streams together, and read of a prompt so long."""

    decode: dict[int, float]
    prefill: dict[int, float]


class Peer(Protocol):
    """A loaded model of another program."""

    def prefill_s(self, tokens: int) -> float:
        """Seconds to the first token after a prompt of so many."""
        ...

    def decode_rate(self, streams: int, context: int, steps: int) -> float:
        """Tokens a second of `streams` equal streams, their prompts not counted."""
        ...
