"""`python -m inference.bench.kv_store --model PATH`: the first token after an engine's restart.

A prompt is computed by an engine that keeps its prefixes in a folder; a second engine, with an
empty cache and that folder, is asked the same. Beside it: what a decoding stream pays meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import secrets
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median

from inference.bench.client import Timing, ask, session
from inference.bench.engine import served
from inference.bench.workloads import Workloads
from inference.config import KV_STORE_KEY_VARIABLE
from inference.model.files.open import open_weights

_LENGTH = 4000
_STREAM = 120
_UNTIL_WRITTEN_S = 20.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.kv_store", description=__doc__)
    parser.add_argument("--model", type=Path, nargs="+", required=True)
    parser.add_argument("--length", type=int, default=_LENGTH)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--serve-options", nargs="*", default=["--int8-activations"])
    args = parser.parse_args()
    os.environ.setdefault(KV_STORE_KEY_VARIABLE, secrets.token_hex(32))
    _say(f"load {os.getloadavg()[0]:.1f} at the beginning\n")
    _say(
        "| model | prompt | cold | kept | kept to cold | in the cache | a stream's gap alone"
        " | its longest meanwhile |\n|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    for model in args.model:
        _measure(model, args.length, args.runs, args.serve_options)


def _measure(model: Path, length: int, runs: int, options: list[str]) -> None:
    vocab = open_weights(str(model)).config.vocab_size
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        kept = [*options, "--no-prompt-lookup", "--kv-store", folder]
        prompts = [_prompt(vocab, length, seed) for seed in range(runs)]
        with served(model, kept) as url:
            cold = [asyncio.run(_first_token(url, prompt)) for prompt in prompts]
            cached = [asyncio.run(_first_token(url, prompt)) for prompt in prompts]
            _wait_written(Path(folder), runs * (length // 256))
        with served(model, kept) as url:
            stored = [asyncio.run(_first_token(url, prompt)) for prompt in prompts]
        with served(model, kept) as url:
            alone, meanwhile = asyncio.run(_stream_beside(url, vocab, prompts[0]))
    ratio = median(stored) / median(cold)
    _say(
        f"| {model.name} | {length:,} | {median(cold):.2f} s | {median(stored):.3f} s | {ratio:.1%}"
        f" | {median(cached):.3f} s | {1000 * alone:.0f} ms | {1000 * meanwhile:.0f} ms |"
    )


def _prompt(vocab: int, length: int, seed: int) -> list[int]:
    return [100 + (seed * 7919 + place * place * 31) % (vocab - 200) for place in range(length)]


async def _first_token(url: str, prompt: list[int]) -> float:
    async with session(url) as client:
        await ask(client, prompt[:40], 4)  # warm
        return (await ask(client, prompt, 1)).ttft


async def _stream_beside(url: str, vocab: int, prompt: list[int]) -> tuple[float, float]:
    """A stream's median gap alone, and its longest while a kept prompt is put into the cache."""
    async with session(url) as client:
        work = Workloads(client, vocab)
        [alone] = await work.streams(1, 64, _STREAM)
        running = asyncio.create_task(work.streams(1, 64, _STREAM))
        await asyncio.sleep(0.5)
        began = time.perf_counter()
        await ask(client, prompt, 1)
        ended = time.perf_counter()
        [stream] = await running
    return median(alone.gaps), max(_gaps_between(stream, began, ended), default=0.0)


def _gaps_between(stream: Timing, began: float, ended: float) -> list[float]:
    times = [one for one in stream.tokens if began <= one <= ended + 0.1]
    return [after - before for before, after in pairwise(times)]


def _wait_written(folder: Path, groups: int) -> None:
    until = time.monotonic() + _UNTIL_WRITTEN_S
    while sum(path.is_file() for path in folder.rglob("*")) < groups and time.monotonic() < until:
        time.sleep(0.1)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
