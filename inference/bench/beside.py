"""`python -m inference.bench.beside --model PATH`: chats beside a long prompt.

Chats of 60 tokens, one after another, alone and then while a long prompt is computed, beside
streams and without: how long their first tokens take, and the long prompt's own. The last column
of each pair is their ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from inference.bench.client import session
from inference.bench.engine import served
from inference.bench.metrics import percentile
from inference.bench.workloads import Workloads
from inference.model.files.open import open_weights

_CHAT, _STREAM_PROMPT = 60, 64
_ALONE = 8
_PAUSE_S = 0.2
_HEADS = (
    "| streams | chat alone s | beside it: median | p95 | ratio | long prompt alone s | beside "
    "chats | ratio | chats meanwhile |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
)


@dataclass(frozen=True)
class Beside:
    """Seconds until first tokens."""

    chats_alone: list[float]
    chats_beside: list[float]
    long_alone: float
    long_beside: float

    def row(self, streams: int) -> str:
        alone, beside = median(self.chats_alone), median(self.chats_beside)
        return (
            f"| {streams} | {alone:.2f} | {beside:.2f} | {percentile(self.chats_beside, 95):.2f} "
            f"| {beside / alone:.1f} | {self.long_alone:.1f} | {self.long_beside:.1f} "
            f"| {self.long_beside / self.long_alone:.2f} | {len(self.chats_beside)} |\n"
        )


def main(argv: Sequence[str] | None = None) -> None:
    args = _parser().parse_args(argv)
    vocab = open_weights(str(args.model)).config.vocab_size
    sys.stdout.write(f"{args.model.name}, a prompt of {args.length:,} tokens\n\n{_HEADS}")
    for streams in args.streams:
        with served(args.model, [*args.serve_options, "--no-prompt-lookup"]) as url:
            measured = asyncio.run(measure(url, vocab, args.length, streams))
        sys.stdout.write(measured.row(streams))
        sys.stdout.flush()


async def measure(url: str, vocab: int, length: int, streams: int) -> Beside:
    async with session(url) as client:
        work = Workloads(client, vocab)
        await work.streams(1, _STREAM_PROMPT, 8)  # warm
        async with _streaming(work, streams):
            alone = [await _first_token(work, _CHAT) for _ in range(_ALONE)]
            long_alone = await _first_token(work, length)
            long_prompt = asyncio.create_task(_first_token(work, length))
            beside: list[float] = []
            while not long_prompt.done():
                await asyncio.sleep(_PAUSE_S)
                beside.append(await _first_token(work, _CHAT))
            return Beside(alone, beside, long_alone, await long_prompt)


@asynccontextmanager
async def _streaming(work: Workloads, count: int) -> AsyncIterator[None]:
    """So many answers that go on, one after another, until the end."""

    async def stream() -> None:
        while True:
            await work.streams(1, _STREAM_PROMPT, 1000)

    tasks = [asyncio.create_task(stream()) for _ in range(count)]
    await asyncio.sleep(1.0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _first_token(work: Workloads, length: int) -> float:
    [timing] = await work.streams(1, length, 1)
    return timing.ttft


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.beside", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file or a folder")
    parser.add_argument("--length", type=int, default=6000, help="of the long prompt, in tokens")
    parser.add_argument("--streams", nargs="+", type=int, default=[0, 4])
    parser.add_argument("serve_options", nargs="*", metavar="-- OPTION", default=[])
    return parser


if __name__ == "__main__":
    main()
