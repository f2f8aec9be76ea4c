"""Workloads against an OpenAI-style server, and what was measured of each request."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from statistics import median

import httpx


@dataclass(frozen=True)
class Timing:
    """One streamed request: when it began and when each token came, in seconds."""

    began: float
    tokens: list[float]

    @property
    def ttft(self) -> float:
        return self.tokens[0] - self.began

    @property
    def gaps(self) -> list[float]:
        return [after - before for before, after in zip(self.tokens, self.tokens[1:], strict=False)]


@dataclass(frozen=True)
class Result:
    """One row of the report; times in milliseconds."""

    workload: str
    ttft_ms: float
    tpot_ms: float
    itl_p99_ms: float
    tokens_per_s: float

    @classmethod
    def of(cls, workload: str, timings: list[Timing]) -> Result:
        gaps = sorted(gap for timing in timings for gap in timing.gaps) or [0.0]
        generated = sum(len(timing.tokens) for timing in timings)
        took = max(t.tokens[-1] for t in timings) - min(t.began for t in timings)
        return cls(
            workload,
            ttft_ms=1e3 * median(timing.ttft for timing in timings),
            tpot_ms=1e3 * sum(gaps) / len(gaps),
            itl_p99_ms=1e3 * gaps[min(len(gaps) - 1, int(0.99 * len(gaps)))],
            tokens_per_s=generated / took,
        )


class Workloads:
    """Prompts are random token ids, so that none finds another's prefix by accident."""

    def __init__(self, client: httpx.AsyncClient, vocab: int, seed: int = 0) -> None:
        self._client = client
        self._vocab = vocab
        self._random = random.Random(seed)

    def prompt(self, length: int) -> list[int]:
        return [self._random.randrange(100, self._vocab) for _ in range(length)]

    async def streams(self, count: int, prompt: int, output: int) -> list[Timing]:
        """`count` requests at once."""
        asked = [self._ask(self.prompt(prompt), output) for _ in range(count)]
        return list(await asyncio.gather(*asked))

    async def repeated_prefix(self, prefix: int, rest: int) -> tuple[Timing, Timing]:
        """Two prompts with one beginning, one after the other: cold, then warm."""
        shared = self.prompt(prefix)
        cold = await self._ask(shared + self.prompt(rest), 1)
        return cold, await self._ask(shared + self.prompt(rest), 1)

    async def long_prompt_among_streams(self, count: int, long: int) -> tuple[Result, Result]:
        """Streams alone, then the same while a long prompt is computed."""
        alone = Result.of(f"{count} streams alone", await self.streams(count, 64, 24))
        streams = asyncio.create_task(self.streams(count, 64, 48))
        await asyncio.sleep(1.0)
        await self._ask(self.prompt(long), 1)
        return alone, Result.of(f"{count} streams beside a prompt of {long}", await streams)

    async def _ask(self, prompt: list[int], output: int) -> Timing:
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
        async with self._client.stream("POST", "/v1/completions", json=body) as response:
            response.raise_for_status()
            lines = response.aiter_lines()
            tokens = [time.perf_counter() async for line in lines if line.startswith("data: {")]
        return Timing(began, tokens)
