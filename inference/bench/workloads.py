"""What is asked of a server and when; every workload returns the timings of its requests.

Prompts are random token ids, so that none finds another's prefix by accident.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import aiohttp
import msgspec

from inference.bench.client import Timing, ask, chat

_REWRITING = Path(__file__).with_name("rewriting.json")

Lengths = Sequence[tuple[int, int]]
"""(prompt tokens, output tokens) of each request."""


class Interference(NamedTuple):
    """Streams alone, and the same streams while a long prompt is computed among them."""

    alone: list[Timing]
    disturbed: list[Timing]
    long_prompt: Timing


class Workloads:
    def __init__(self, client: aiohttp.ClientSession, vocab: int, seed: int = 0) -> None:
        """`vocab`: token ids below it are asked for."""
        self._client = client
        self._vocab = vocab
        self._random = random.Random(seed)

    async def at_once(self, lengths: Lengths) -> list[Timing]:
        """All requests at the same moment: a continuous batch."""
        return list(await asyncio.gather(*(self._ask(*pair) for pair in lengths)))

    def prompts(self, count: int, length: int) -> list[list[int]]:
        return [self._prompt(length) for _ in range(count)]

    async def complete(
        self, prompts: list[list[int]], output: int, sampling: Mapping[str, object] | None = None
    ) -> list[Timing]:
        """All prompts at the same moment; a second time they are cached."""
        asked = (ask(self._client, prompt, output, sampling) for prompt in prompts)
        return list(await asyncio.gather(*asked))

    async def streams(self, count: int, prompt: int, output: int) -> list[Timing]:
        """`count` equal requests at once."""
        return await self.at_once([(prompt, output)] * count)

    async def static_batches(self, lengths: Lengths, size: int) -> list[Timing]:
        """`size` requests at a time, the next ones when the last of them is done."""
        timings: list[Timing] = []
        for begin in range(0, len(lengths), size):
            timings += await self.at_once(lengths[begin : begin + size])
        return timings

    async def poisson(self, lengths: Lengths, rate: float) -> list[Timing]:
        """Requests that arrive by chance, `rate` a second on average."""
        running = []
        for pair in lengths:
            running.append(asyncio.create_task(self._ask(*pair)))
            await asyncio.sleep(self._random.expovariate(rate))
        return list(await asyncio.gather(*running))

    async def repeated_prefix(self, prefix: int, rest: int) -> tuple[Timing, Timing]:
        """Two prompts with one beginning, one after the other: cold, then warm."""
        shared = self._prompt(prefix)
        cold = await ask(self._client, shared + self._prompt(rest), 1)
        return cold, await ask(self._client, shared + self._prompt(rest), 1)

    async def long_prompt_among_streams(self, count: int, output: int, long: int) -> Interference:
        """`count` streams; then again, with a prompt of `long` tokens after some of theirs."""
        alone = await self.streams(count, 64, output)
        streams = asyncio.create_task(self.streams(count, 64, output))
        await asyncio.sleep(alone[0].ttft + 5 * (alone[0].tpot or 0.0))
        long_prompt = await self._ask(long, 1)
        return Interference(alone, await streams, long_prompt)

    async def rewriting(self, output: int) -> list[Timing]:
        """The prompts of rewriting.json one after another, none of them cached."""
        return [await chat(self._client, prompt, output) for prompt in rewriting_prompts()]

    async def _ask(self, prompt: int, output: int) -> Timing:
        return await ask(self._client, self._prompt(prompt), output)

    def _prompt(self, length: int) -> list[int]:
        return [self._random.randrange(100, self._vocab) for _ in range(length)]


def rewriting_prompts() -> list[str]:
    """Texts to be corrected, rewritten, summarised and quoted from; ours."""
    return [item["prompt"] for item in msgspec.json.decode(_REWRITING.read_bytes())]
