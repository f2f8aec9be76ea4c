"""How many prompt tokens a step takes beside decode requests: so many that readers hardly notice.

What tokens cost depends on the machine, on the model and on how long the prompt is already, so
it is learned from the steps themselves: those of decode requests alone tell what these wait for
anyway, those with prompt tokens how much longer they make them wait.
"""

from __future__ import annotations

MIN_PREFILL_TOKENS, MIN_LONG_PREFILL_TOKENS = 32, 8
"""However slow: the prompt has to go on. A short one is soon over, and its reader waits, too."""
LONG_PREFILL_TOKENS = 512
"""Left of a prompt, from which on it must not hold up the decode requests."""
ITL_TARGET_S = 0.04
"""25 tokens a second are faster than anyone reads: a step may always take as long."""
ALONE_TARGET_S, MIN_ALONE_TOKENS = 0.15, 96
"""A step of prompts alone takes about so long: whoever comes then waits for its end. With fewer
tokens a step the weights are read too often."""
_MIN_MEASURED_TOKENS = 16
"""Least tokens of a step without decode requests whose time tells what a token costs."""
_NEWEST_SHARE = 0.25
"""What one step counts in the averages: one that the machine held up is soon forgotten."""


class PrefillBudget:
    """Invariant: min(a minimum above, `max_tokens`) <= `tokens(...)` <= `max_tokens`."""

    def __init__(self, max_tokens: int, slowdown: float) -> None:
        """`slowdown`: of a step with prompt tokens to one of the same decode requests alone."""
        self._max_tokens = max_tokens
        self._slowdown = slowdown
        self._decode_s: dict[int, float] = {}
        """Seconds of a step without prompts, by the number of its tokens."""
        self._prompt_token_s: float | None = None

    def tokens(self, decode_tokens: int, left: int) -> int:
        """Prompt tokens of the next step; `max_tokens` until something is known.

        Args:
            decode_tokens: tokens of decode requests in that step.
            left: tokens that are still to be computed of the prompt whose turn it is.
        """
        decode_s = self._nearest(decode_tokens)
        if self._prompt_token_s is None or decode_s is None:
            return self._max_tokens
        allowed_s = max(decode_s * self._slowdown, ITL_TARGET_S) - decode_s
        least = MIN_PREFILL_TOKENS if left < LONG_PREFILL_TOKENS else MIN_LONG_PREFILL_TOKENS
        budget = max(least, int(allowed_s / self._prompt_token_s))
        return min(budget, self._max_tokens)

    def tokens_alone(self, max_tokens: int) -> int:
        """Prompt tokens of a step that nobody's answer waits for; `max_tokens` until something is
        known."""
        if self._prompt_token_s is None:
            return max_tokens
        allowed_s = ALONE_TARGET_S - (self._nearest(0) or 0.0)
        return min(max(MIN_ALONE_TOKENS, int(allowed_s / self._prompt_token_s)), max_tokens)

    def step_done(self, decode_tokens: int, prompt_tokens: int, seconds: float) -> None:
        """Learn from a step."""
        if not prompt_tokens:
            known = self._decode_s.get(decode_tokens)
            self._decode_s[decode_tokens] = _averaged(known, seconds)
            return
        decode_s = self._nearest(decode_tokens)
        if decode_tokens == 0 and prompt_tokens < _MIN_MEASURED_TOKENS:
            return
        if decode_tokens and decode_s is None:
            return
        each = max(seconds - (decode_s or 0.0), 0.1 * seconds) / prompt_tokens
        self._prompt_token_s = _averaged(self._prompt_token_s, each)

    def _nearest(self, decode_tokens: int) -> float | None:
        """Seconds of a step without prompts, of the nearest number of tokens that was seen."""
        nearest = min(self._decode_s, key=lambda seen: abs(seen - decode_tokens), default=None)
        return None if nearest is None else self._decode_s[nearest]


def _averaged(known: float | None, new: float) -> float:
    return new if known is None else known + _NEWEST_SHARE * (new - known)
