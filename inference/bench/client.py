"""One streamed request, and when its tokens came."""

from __future__ import annotations

import time
from dataclasses import dataclass

import httpx


@dataclass(frozen=True)
class Timing:
    """One request: when it began and when each token came, in seconds of one clock."""

    began: float
    tokens: list[float]
    prompt_tokens: int

    @property
    def ttft(self) -> float:
        return self.tokens[0] - self.began

    @property
    def latency(self) -> float:
        return self.tokens[-1] - self.began

    @property
    def gaps(self) -> list[float]:
        return [after - before for before, after in zip(self.tokens, self.tokens[1:], strict=False)]

    @property
    def tpot(self) -> float | None:
        """Mean time of a token after the first; None when there is no such token."""
        more = len(self.tokens) - 1
        return (self.tokens[-1] - self.tokens[0]) / more if more else None


async def ask(client: httpx.AsyncClient, prompt: list[int], output: int) -> Timing:
    """Complete `prompt` greedily with exactly `output` tokens.

    Raises:
        httpx.HTTPStatusError: when the server refuses.
    """
    body = {
        "prompt": prompt,
        "max_tokens": output,
        "temperature": 0,
        "ignore_eos": True,
        "stream": True,
        # A chunk for every token, also for those that complete no character.
        "stream_options": {"continuous_usage_stats": True},
    }
    began = time.perf_counter()
    async with client.stream("POST", "/v1/completions", json=body) as response:
        response.raise_for_status()
        lines = response.aiter_lines()
        tokens = [time.perf_counter() async for line in lines if line.startswith("data: {")]
    return Timing(began, tokens, len(prompt))
