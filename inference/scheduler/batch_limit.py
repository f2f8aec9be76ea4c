"""How many tokens a step may have: fewer after memory ran out, then slowly more again."""

from __future__ import annotations

_MIN_TOKENS = 16
_STEPS_PER_RAISE = 64


class BatchLimit:
    """Invariant: 0 < `tokens` <= `max_tokens`."""

    def __init__(self, max_tokens: int) -> None:
        self.max_tokens = max_tokens
        self.tokens = max_tokens
        self._good_steps = 0

    def lower(self, failed_tokens: int) -> bool:
        """A step of so many tokens ran out of memory: the next has at most half of them.

        Returns False where that would be too few to make sense; nothing is changed then.
        """
        lowered = min(self.tokens, failed_tokens) // 2
        if lowered < min(_MIN_TOKENS, self.max_tokens):
            return False
        self.tokens = lowered
        self._good_steps = 0
        return True

    def step_done(self) -> None:
        """A step worked; after many of them the limit rises by a quarter."""
        if self.tokens < self.max_tokens:
            self._good_steps += 1
            if self._good_steps >= _STEPS_PER_RAISE:
                self.tokens = min(self.max_tokens, self.tokens + max(1, self.tokens // 4))
                self._good_steps = 0
