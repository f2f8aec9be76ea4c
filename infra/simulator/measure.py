"""Measures what steps of our engine take on this machine, by what its clients see.

Four engines of one thread each, since that is what `compare` simulates: on the cores of one machine
they slow each other down. By how much is measured for prompts and for decode steps, with one to all
of them at work, and what of it their having less than a core each does not explain is written. Each
figure is the time between tokens, or to the first one, so it holds all that the engine does for a
step; what the server and the client do beside it is counted in processor time.
"""

from __future__ import annotations

import asyncio
import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from random import Random
from statistics import fmean, median

import aiohttp
import msgspec
import numpy as np
import psutil

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
_LOOP_S = 3.0
_PRIORITY = -15
_MEASURED = (
    *("base_s", "empty_s", "context_s", "prompt_s", "attended_s", "request_s", "beside_s"),
    *("token_s", "shared_prompts", "shared_decodes"),
)
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
    beside_s = fmean([await probe.beside_s(batch, base[batch]) for batch in (1, 4)])
    token_s = fmean([await probe.token_s(batch) for batch in (1, 4)])
    request_s = max(0.0, await probe.request_s(256) - token_s)
    cores = psutil.cpu_count() or 1
    prompts, decodes = [], []
    for number in range(1, len(probe.clients) + 1):
        prompts.append(await probe.prompts_s(number, 256))
        decodes.append(await probe.step_s(number, 4, _SHORT, 2 * _STEPS))
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
        beside_s=float(f"{beside_s:.3g}"),
        request_s=float(f"{request_s:.3g}"),
        token_s=float(f"{token_s:.3g}"),
        cores=cores,
        shared_prompts=_contention(prompts, request_s / first[256], cores),
        shared_decodes=_contention(decodes, 4 * token_s / base[4], cores),
        kv_tokens=BLOCKS * 16,
    )


def _contention(took_s: Sequence[float], more: float, cores: int) -> tuple[float, ...]:
    """By how much work takes longer than cores that are shared explain.

    Args:
        took_s: with one, two, ... engines.
        more: what the server and the client compute for a second of the engine.
    """
    found = []
    for number, seconds in enumerate(took_s, 1):
        explained_s = took_s[0] * max(1.0, number * (1 + more) / cores)
        found.append(max(1.0, seconds / explained_s))
    return tuple(round(each, 3) for each in found)


class _Prober:
    def __init__(self, clients: Sequence[aiohttp.ClientSession]) -> None:
        self.clients = clients
        self._seeds = count()

    async def step_s(self, engines: int, batch: int, context: int, steps: int = _STEPS) -> float:
        """Seconds of a step of so many requests, at each of so many engines at once."""
        found = []
        for _ in range(_REPEATS):
            prompts = [[self._prompt(context) for _ in range(batch)] for _ in range(engines)]
            await self._at_once(prompts, 1)  # cached from then on
            for timings in await self._at_once(prompts, steps):
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

    async def prompts_s(self, engines: int, tokens: int) -> float:
        """Seconds to the first token while so many engines compute one prompt after another."""

        async def one_after_another(client: aiohttp.ClientSession) -> list[Timing]:
            found = []
            while time.perf_counter() < end:
                found.append(await ask(client, self._prompt(tokens), 1))
            return found

        end = time.perf_counter() + _LOOP_S
        each = await asyncio.gather(*map(one_after_another, self.clients[:engines]))
        return fmean(one.ttft for found in each for one in found[: max(1, len(found) - 1)])

    async def beside_s(self, batch: int, step_s: float) -> float:
        """Seconds that a prompt's token adds to steps with so many decode requests.

        Args:
            step_s: of steps without it.
        """
        found = []
        client, prompts = self.clients[0], [self._prompt(_SHORT) for _ in range(batch)]
        await self._at_once([prompts], 1)
        for _ in range(2 * _REPEATS):
            answers = asyncio.gather(*(ask(client, prompt, 10 * _STEPS) for prompt in prompts))
            await asyncio.sleep(10 * step_s)
            prompt = await ask(client, self._prompt(512), 1)
            begin, end = prompt.began, prompt.tokens[0]
            for timing in await answers:
                within = [at for at in timing.tokens if begin <= at <= end]
                if len(within) > 1:
                    took = within[-1] - within[0] - (len(within) - 1) * step_s
                    found.append(took / (512 * (within[-1] - within[0]) / (end - begin)))
        return median(found)

    async def token_s(self, batch: int) -> float:
        """Processor seconds of the server and this client for each token that is sent."""
        prompts = [[self._prompt(_SHORT) for _ in range(batch)]]
        await self._at_once(prompts, 1)
        before = _beside_engines_s()
        await self._at_once(prompts, 10 * _STEPS)
        return (_beside_engines_s() - before) / (10 * _STEPS * batch)

    async def request_s(self, tokens: int) -> float:
        """Processor seconds of the server and this client for each request, its token too."""
        prompts = [self._prompt(tokens) for _ in range(20 * _REPEATS)]
        before = _beside_engines_s()
        for prompt in prompts:
            await ask(self.clients[0], prompt, 1)
        return (_beside_engines_s() - before) / len(prompts)

    async def _at_once(self, prompts: list[list[list[int]]], output: int) -> list[list[Timing]]:
        async def of_engine(client: aiohttp.ClientSession, its: list[list[int]]) -> list[Timing]:
            return list(await asyncio.gather(*(ask(client, prompt, output) for prompt in its)))

        pairs = zip(self.clients, prompts, strict=False)
        return list(await asyncio.gather(*(of_engine(client, its) for client, its in pairs)))

    def _prompt(self, tokens: int) -> list[int]:
        chance = Random(next(self._seeds))  # noqa: S311
        return [chance.randrange(1_000, 40_000) for _ in range(tokens)]


def _beside_engines_s() -> float:
    """Processor seconds so far of this process and those it started, but for engines' cores."""
    found = time.process_time()
    for process in psutil.Process().children(recursive=True):
        if "inference.core_main" not in process.cmdline():
            used = process.cpu_times()
            found += used.user + used.system
    return found


def go_first() -> bool:
    """Have the processor before other programs, with all that is started from now on; whether that
    was allowed. Linux shares it among sessions first, where it has `autogroup`."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, _PRIORITY)
        group = Path("/proc/self/autogroup")
        if group.exists():
            group.write_text(f"{_PRIORITY}\n")
    except OSError:
        return False
    return True


def keep(times: StepTimes, path: Path) -> StepTimes:
    """Write the medians of this measurement and of those that were made before it, which lie beside
    `path`; the medians. One alone is as far off as a real run is."""
    kept = path.with_suffix(".measured.jsonl")
    with kept.open("ab") as file:
        file.write(msgspec.json.encode(times) + b"\n")
    found = medians(
        [msgspec.json.decode(line, type=StepTimes) for line in kept.read_bytes().splitlines()]
    )
    path.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=2) + b"\n")
    return found


def medians(tables: Sequence[StepTimes]) -> StepTimes:
    """Of each figure; what is no measurement is the last one's."""
    changed: dict[str, object] = {}
    for name in _MEASURED:
        seen = [getattr(one, name) for one in tables]
        if isinstance(seen[-1], tuple):
            columns = zip(*seen, strict=True)
            changed[name] = tuple(float(f"{median(column):.4g}") for column in columns)
        else:
            changed[name] = float(f"{median(seen):.4g}")
    return msgspec.structs.replace(tables[-1], **changed)
