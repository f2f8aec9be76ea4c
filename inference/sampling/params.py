"""How one request wants its tokens chosen. Plain data that crosses the process border."""

from __future__ import annotations

import msgspec

MIN_TEMPERATURE = 1e-5
"""Below it only the likeliest token is left, and sampling is greedy."""


class SamplingParams(msgspec.Struct, frozen=True, omit_defaults=True):
    """Sampling parameters of one sequence, already validated by the server.

    `temperature` 0 (or below `MIN_TEMPERATURE`) is greedy. `top_k` 0, `top_p` 1, `min_p` 0 and
    the neutral penalties switch the respective filter off. `seed` is always set by the time it
    reaches the core, so that a preempted or resumed sequence draws the same numbers again.
    `logprobs` None means none; k means the chosen token's and the k most likely ones'.
    """

    max_tokens: int
    min_tokens: int = 0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = {}
    seed: int = 0
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    logprobs: int | None = None
    grammar: str = ""
    """What the output must follow, as llguidance writes it; empty for anything."""

    @property
    def is_greedy(self) -> bool:
        return self.temperature < MIN_TEMPERATURE

    @property
    def has_penalties(self) -> bool:
        return (
            self.repetition_penalty != 1.0
            or self.presence_penalty != 0.0
            or self.frequency_penalty != 0.0
        )
