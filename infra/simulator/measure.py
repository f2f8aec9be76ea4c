"""Measures what steps of our engine take on this machine, by what its clients see.

Four engines of one thread each, since that is what `compare` simulates: on the cores of one machine
they slow each other down, and by how much is measured too. Each figure is the time between tokens,
or to the first one, so it holds all that the server does for a step.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from random import Random
from statistics import fmean, median

import aiohttp
import msgspec
import numpy as np

from inference.bench.client import Timing, ask, session
from inference.bench.engine import served
from infra.simulator.step_times import StepTimes

ENGINES = 4
BLOCKS = 2_000
"""Of 16 tokens, of each engine."""
_BATCHES = (1, 2, 4, 8, 16)
_PROMPTS = (16, 64, 256, 768)
_SHORT, _LONG = 32, 1_024
_STEPS = 40
_REPEATS = 2
_OPTIONS = (
    *("--threads", "1", "--int8-activations", "auto", "--no-prompt-lookup"),
    *("--num-blocks", str(BLOCKS)),
)


@contextmanager
def engines(model: Path, number: int = ENGINES) -> Iterator[list[str]]:
    """The addresses of so many real engines, ready."""
    with ExitStack() as stack:
        yield [stack.enter_context(served(model, _OPTIONS)) for _ in range(number)]


async def measure(model: Path, urls: Sequence[str]) -> StepTimes:
    """Step times of one engine, and by how much more they are when several compute."""
    clients = [session(url) for url in urls]
    try:
        return await _measure(model, _Prober(clients))
    finally:
        for client in clients:
            await client.close()


async def _measure(model: Path, probe: _Prober) -> StepTimes:
    await probe.first_s(len(probe.clients), 64)  # to warm up
    await probe.step_s(len(probe.clients), 4, _SHORT)
    base = {batch: await probe.step_s(1, batch, _SHORT) for batch in _BATCHES}
    long_s = await probe.step_s(1, 4, _LONG)
    context_s = max(0.0, (long_s - base[4]) / (4 * (_LONG - _SHORT)))
    first = {tokens: await probe.first_s(1, tokens) for tokens in _PROMPTS}
    shared, beside = [1.0], [1.0]
    for number in range(2, len(probe.clients) + 1):
        shared.append(await probe.first_s(number, 256) / first[256])
        ratios = [await probe.step_s(number, batch, _SHORT) / base[batch] for batch in (1, 4)]
        beside.append(fmean(ratios))
    shared = [float(each) for each in np.maximum.accumulate(shared)]
    lengths = np.array(_PROMPTS, float)
    columns = np.stack([np.ones(len(_PROMPTS)), lengths, lengths**2 / 2], axis=1)
    ttft = np.array([first[tokens] for tokens in _PROMPTS])
    before_s, prompt_s, attended_s = np.linalg.lstsq(
        columns / ttft[:, None], np.ones(len(_PROMPTS)), rcond=None
    )[0]
    base_s = np.maximum.accumulate(
        [base[batch] - batch * (_SHORT + _STEPS / 2) * context_s for batch in _BATCHES]
    )
    empty_s = min(max(0.0, float(before_s)), float(base_s[0]))
    return StepTimes(
        model=model.name,
        hardware=f"one thread of {platform.processor() or platform.machine()}",
        source="python -m infra.simulator measure",
        gpus=1,
        batches=_BATCHES,
        base_s=tuple(round(float(seconds), 6) for seconds in base_s),
        empty_s=round(empty_s, 6),
        context_s=float(f"{context_s:.3g}"),
        prompt_s=float(f"{prompt_s:.3g}"),
        attended_s=float(f"{max(0.0, attended_s):.3g}"),
        request_s=round(max(0.0, float(before_s) - empty_s), 6),
        shared=tuple(round(each, 3) for each in shared),
        decode_weight=round(_decode_weight(shared, beside), 2),
        kv_tokens=BLOCKS * 16,
    )


def _decode_weight(shared: Sequence[float], beside: Sequence[float]) -> float:
    """What part of an engine that computes prompts one counts for that decodes: with which the
    slowdowns of `beside`, of 1, 2, ... engines that decode, lie on those of `shared`."""
    counts = np.arange(1, len(shared) + 1)
    weights = np.linspace(0.1, 1.0, 91)
    off = [
        float(np.abs(np.interp(counts * weight, counts, shared) / beside - 1).sum())
        for weight in weights
    ]
    return float(weights[int(np.argmin(off))])


class _Prober:
    def __init__(self, clients: Sequence[aiohttp.ClientSession]) -> None:
        self.clients = clients
        self._seeds = count()

    async def step_s(self, engines: int, batch: int, context: int) -> float:
        """Seconds of a step of so many requests, at each of so many engines at once."""
        found = []
        for _ in range(_REPEATS):
            prompts = [[self._prompt(context) for _ in range(batch)] for _ in range(engines)]
            await self._at_once(prompts, 1)  # cached from then on
            for timings in await self._at_once(prompts, _STEPS):
                begin = max(timing.tokens[1] for timing in timings)
                end = min(timing.tokens[-1] for timing in timings)
                made = sum(begin < at <= end for timing in timings for at in timing.tokens)
                found.append((end - begin) * batch / max(1, made))
        return median(found)

    async def first_s(self, engines: int, tokens: int) -> float:
        """Seconds to the first token after a prompt that is not cached."""
        found = []
        for _ in range(2 * _REPEATS):
            prompts = [[self._prompt(tokens)] for _ in range(engines)]
            found += [each[0].ttft for each in await self._at_once(prompts, 1)]
        return median(found)

    async def _at_once(self, prompts: list[list[list[int]]], output: int) -> list[list[Timing]]:
        async def of_engine(client: aiohttp.ClientSession, its: list[list[int]]) -> list[Timing]:
            return list(await asyncio.gather(*(ask(client, prompt, output) for prompt in its)))

        pairs = zip(self.clients, prompts, strict=False)
        return list(await asyncio.gather(*(of_engine(client, its) for client, its in pairs)))

    def _prompt(self, tokens: int) -> list[int]:
        chance = Random(next(self._seeds))  # noqa: S311
        return [chance.randrange(1_000, 40_000) for _ in range(tokens)]


def write(times: StepTimes, path: Path) -> None:
    path.write_bytes(msgspec.json.format(msgspec.json.encode(times), indent=2) + b"\n")
