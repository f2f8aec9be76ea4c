"""Serves the model with our engine and puts the workloads to it, over HTTP."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

import psutil

from inference.bench.client import Timing, session
from inference.bench.lengths import sharegpt_lengths
from inference.bench.metrics import Metrics, percentile
from inference.bench.peers.cases import Cases, Rates
from inference.bench.workloads import Workloads

_START_LIMIT_S = 300.0
_LOAD = 0.7
"""Poisson arrivals come at this part of the rate that the engine has shown it can serve."""
_STATIC_BATCH = 8
_POLL_S = 0.02


@dataclass(frozen=True)
class Sizes:
    """How large the workloads are."""

    cases: Cases = field(default_factory=Cases)
    requests: int = 40
    length_scale: float = 0.5
    long_prompt: int = 6000
    streams: int = 8
    stream_output: int = 64
    shared_prompt: int = 1500
    rewriting_output: int = 128

    @classmethod
    def quick(cls) -> Sizes:
        """A minute or two: shows that everything works, not how fast it is."""
        cases = Cases(context=128, steps=8, prefill=(256,), repeats=1, streams=(1, 8))
        return cls(cases, 8, 0.08, 800, 4, 24, 400, 16)


@dataclass(frozen=True)
class EngineFigures:
    """What the workloads gave."""

    rows: list[Metrics]
    rates: Rates
    ratios: dict[str, float]
    """Of two of our own measurements to each other, by what they show."""
    rewriting: float | None
    """Tokens a second of one stream that rewrites and summarises; None: not measured."""


@dataclass(frozen=True)
class Start:
    """What it takes until a model can be asked."""

    seconds: float
    """From the command to readiness, the file in the page cache or not."""
    memory: int
    """Bytes that the engine's processes then hold, what they share counted once."""
    file: int
    """Bytes of the model's file."""


@contextmanager
def served(model: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """The engine on a free port; yields its address once it is ready.

    Raises:
        SystemExit: when it does not start.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = ["--port", str(port), "--no-api-key"]
    command = ["-m", "inference", "serve", "--model", str(model), *where, *options]
    process = subprocess.Popen([sys.executable, *command])  # noqa: S603
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + _START_LIMIT_S
        while not _is_ready(port):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit("the engine did not start")
            time.sleep(_POLL_S)
        yield url
    finally:
        process.terminate()
        process.wait()


def _is_ready(port: int) -> bool:
    """Asked without a client library, which would take a part of what is measured."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ready")
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()


def memory_of_processes() -> int:
    """Bytes that the processes which this one started hold, what they share counted once."""
    processes = psutil.Process().children(recursive=True)
    return sum(each.memory_full_info().pss for each in processes)


async def measure(
    url: str,
    vocab: int,
    sizes: Sizes,
    *,
    only_rates: bool = False,
    sampling: Mapping[str, object] | None = None,
) -> EngineFigures:
    """Run every workload once (the rates several times) against a served engine.

    Args:
        only_rates: what the peers are asked too, and nothing else.
        sampling: that of the product, whose decoding is timed in turn with greedy decoding.
    """
    async with session(url) as client:
        work = Workloads(client, vocab)
        await work.streams(1, 64, 8)  # warm
        rows: list[Metrics] = []
        ratios: dict[str, float] = {}
        rates = await _rates(work, sizes.cases, rows, sampling, ratios)
        if only_rates:
            return EngineFigures(rows, rates, ratios, None)
        await _length_mix(work, sizes, rows, ratios)
        await _shared_prompt(work, sizes, rows, ratios)
        await _long_prompt(work, sizes, rows, ratios)
        return EngineFigures(rows, rates, ratios, await _rewriting(work, sizes, rows))


async def measure_rates(url: str, vocab: int, sizes: Sizes) -> Rates:
    """Only what the peers are asked."""
    async with session(url) as client:
        work = Workloads(client, vocab)
        await work.streams(1, 64, 8)  # warm
        return await _rates(work, sizes.cases, [])


async def measure_rewriting(url: str, vocab: int, sizes: Sizes) -> float:
    """Tokens a second of one stream that rewrites and summarises."""
    async with session(url) as client:
        work = Workloads(client, vocab)
        await work.streams(1, 64, 8)  # warm
        return await _rewriting(work, sizes, [])


async def _rewriting(work: Workloads, sizes: Sizes, rows: list[Metrics]) -> float:
    timings = await work.rewriting(sizes.rewriting_output)
    rows.append(Metrics.of("rewriting and summarising, 1 stream", timings))
    decoding = sum(timing.tokens[-1] - timing.tokens[0] for timing in timings)
    return sum(len(timing.gaps) for timing in timings) / decoding


async def _rates(
    work: Workloads,
    cases: Cases,
    rows: list[Metrics],
    sampling: Mapping[str, object] | None = None,
    ratios: dict[str, float] | None = None,
) -> Rates:
    """What the peers are asked too.

    Decoding is timed with prompts that are cached already, but for one token: otherwise the first
    streams would end before the last prompt is computed, and never all run together.
    """
    decode: dict[int, float] = {}
    for streams in cases.streams:
        seen: list[float] = []
        sampled: list[float] = []
        prompts = work.prompts(streams, cases.context + 1)
        await work.complete(prompts, 1)
        began = time.monotonic()
        while cases.wants_another(len(seen), time.monotonic() - began):
            timings = await work.complete(prompts, 1 + cases.steps)
            seen.append(decode_rate(timings))
            if sampling is not None:
                other = await work.complete(prompts, 1 + cases.steps, sampling)
                sampled.append(decode_rate(other))
        name = f"{streams} streams, cached context {cases.context}"
        rows.append(Metrics.of(name, timings))
        decode[streams] = median(seen)
        if sampled and ratios is not None:
            name = f"decoding with the product's sampling to greedy, {streams} streams"
            ratios[name] = median(sampled) / median(seen)
    prefill: dict[int, float] = {}
    for tokens in cases.prefill:
        alone = [await work.streams(1, tokens, 1) for _ in range(cases.repeats)]
        rows.append(Metrics.of(f"prompt {tokens:,}", [t for each in alone for t in each]))
        prefill[tokens] = tokens / median(each[0].ttft for each in alone)
    return Rates(decode, prefill)


def decode_rate(timings: list[Timing]) -> float:
    """Tokens a second from when the last prompt is done to when the first answer is."""
    begin = max(timing.tokens[0] for timing in timings)
    end = min(timing.tokens[-1] for timing in timings)
    count = sum(begin < at <= end for timing in timings for at in timing.tokens)
    if end > begin and count:
        return count / (end - begin)
    # Too few steps to have all streams at once: the whole answers, prompts not counted.
    first, last = min(t.tokens[0] for t in timings), max(t.tokens[-1] for t in timings)
    return sum(len(t.gaps) for t in timings) / (last - first)


async def _length_mix(
    work: Workloads, sizes: Sizes, rows: list[Metrics], ratios: dict[str, float]
) -> None:
    lengths = sharegpt_lengths(sizes.requests, random.Random(1), sizes.length_scale)
    static = Metrics.of(
        f"ShareGPT mix, static batches of {_STATIC_BATCH}",
        await work.static_batches(lengths, _STATIC_BATCH),
    )
    continuous = Metrics.of("ShareGPT mix, all at once", await work.at_once(lengths))
    rate = _LOAD * continuous.request_throughput
    poisson = Metrics.of(
        f"ShareGPT mix, Poisson at {rate:.2f} a second", await work.poisson(lengths, rate)
    )
    rows += [static, continuous, poisson]
    ratios["continuous to static batching, output throughput"] = (
        continuous.output_throughput / static.output_throughput
    )


async def _shared_prompt(
    work: Workloads, sizes: Sizes, rows: list[Metrics], ratios: dict[str, float]
) -> None:
    pairs = [
        await work.repeated_prefix(sizes.shared_prompt, 20) for _ in range(sizes.cases.repeats)
    ]
    cold, warm = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    rows.append(Metrics.of(f"system prompt of {sizes.shared_prompt}, first time", cold))
    rows.append(Metrics.of(f"system prompt of {sizes.shared_prompt}, cached", warm))
    ratios["TTFT with a cached system prompt to without"] = median(t.ttft for t in warm) / median(
        t.ttft for t in cold
    )


async def _long_prompt(
    work: Workloads, sizes: Sizes, rows: list[Metrics], ratios: dict[str, float]
) -> None:
    seen = await work.long_prompt_among_streams(
        sizes.streams, sizes.stream_output, sizes.long_prompt
    )
    rows.append(Metrics.of(f"{sizes.streams} chats alone", seen.alone))
    rows.append(Metrics.of(f"{sizes.streams} chats beside a long prompt", seen.disturbed))
    rows.append(Metrics.of(f"the long prompt, {sizes.long_prompt}", [seen.long_prompt]))
    alone, disturbed = ([gap for timing in each for gap in timing.gaps] for each in seen[:2])
    ratios["p99 ITL beside a long prompt to alone"] = percentile(disturbed, 99) / percentile(
        alone, 99
    )
