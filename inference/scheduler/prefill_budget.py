"""How many prompt tokens a step takes beside streams: as many as their readers hardly notice.

What tokens cost depends on the machine, on the model and on how long the prompt is already, so
it is learned from the steps themselves: those of streams alone tell what a stream waits for
anyway, those with prompt tokens how much longer these make it wait.
"""

from __future__ import annotations

_LEAST, _LEAST_OF_LONG = 32, 8
"""However slow: the prompt has to go on. A short one is soon over, and its reader waits, too."""
_LONG = 512
"""Tokens that are left of a prompt from which on it must not hold up the streams."""
_UNHURRIED_S = 0.04
"""Nobody reads 25 tokens a second, so a step may always take as long."""
_NEWEST = 0.25
"""What one step counts in the averages: one that the machine held up is soon forgotten."""


class PrefillBudget:
    """Invariant: `_LEAST` or `_LEAST_OF_LONG` (or `most`, where that is less) <=
    `prompt_tokens(...)` <= `most`."""

    def __init__(self, most: int, slowdown: float) -> None:
        """`slowdown`: of a step with prompt tokens to one of the same streams alone."""
        self._most = most
        self._slowdown = slowdown
        self._alone_s: dict[int, float] = {}
        """By the number of streams' tokens."""
        self._prompt_token_s: float | None = None

    def prompt_tokens(self, stream_tokens: int, left: int) -> int:
        """For the next step; `most` until something is known.

        Args:
            stream_tokens: tokens of streams in that step.
            left: tokens that are still to be computed of the prompt whose turn it is.
        """
        if self._prompt_token_s is None or (alone := self._alone(stream_tokens)) is None:
            return self._most
        allowed = max(alone * self._slowdown, _UNHURRIED_S) - alone
        least = _LEAST if left < _LONG else _LEAST_OF_LONG
        return max(min(least, self._most), min(self._most, int(allowed / self._prompt_token_s)))

    def step_done(self, stream_tokens: int, prompt_tokens: int, seconds: float) -> None:
        """Learn from a step."""
        if not prompt_tokens:
            known = self._alone_s.get(stream_tokens)
            self._alone_s[stream_tokens] = _averaged(known, seconds)
        elif stream_tokens and (alone := self._alone(stream_tokens)) is not None:
            each = max(seconds - alone, 0.1 * seconds) / prompt_tokens
            self._prompt_token_s = _averaged(self._prompt_token_s, each)

    def _alone(self, stream_tokens: int) -> float | None:
        """Seconds of a step without prompts, by the nearest number of streams that was seen."""
        nearest = min(self._alone_s, key=lambda seen: abs(seen - stream_tokens), default=None)
        return None if nearest is None else self._alone_s[nearest]


def _averaged(known: float | None, new: float) -> float:
    return new if known is None else known + _NEWEST * (new - known)
