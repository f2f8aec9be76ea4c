"""`python -m inference.bench.hand_over --model PATH`: prompts computed by another engine.

Two engines of one thread each share this machine. Printed are the first token of a prompt that is
computed here and of one whose blocks come from the other engine; how long after the prompt was
computed the last block was written; and the gaps of a stream on the engine that receives, alone,
while the other one computes for somebody else, and while blocks arrive.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from inference.bench.client import ask, session
from inference.bench.engine import served
from inference.bench.metrics import percentile
from inference.bench.workloads import Workloads
from inference.config import EngineConfig
from inference.connector.incoming import Incoming
from inference.connector.zmq_connector import PrefillTask, ZmqConnector
from inference.model.files.open import open_weights
from inference.runner.model_runner import ModelRunner

T = TypeVar("T")

_BLOCK = 16
_STREAM = 100
_STREAM_PROMPT = 16
"""Without a full block before its last token, so that it is computed here."""
_CONNECT_LIMIT_S = 120.0
_KEYS = {"tcp": "a key that all engines of a pool are given", "open-tcp": "", "ipc": ""}
"""By way. With a key what travels over TCP is encrypted."""


@dataclass(frozen=True)
class Fetched:
    """A prompt's blocks, as they came to this process."""

    num_bytes: int
    late_s: float
    """From the end of the computation to the last block."""


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench.hand_over", description=__doc__
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--length", type=int, default=4000)
    parser.add_argument("--ways", nargs="+", choices=_KEYS, default=list(_KEYS))
    args = parser.parse_args()
    _say(f"load {os.getloadavg()[0]:.1f} at the beginning; a prompt of {args.length:,}\n")
    vocab = open_weights(str(args.model)).config.vocab_size
    prompts = [_prompt(vocab, args.length, seed) for seed in range(3)]
    options = ["--int8-activations", "--no-prompt-lookup", "--threads", "1"]
    with served(args.model, options) as url:
        _say(f"computed here: first token after {asyncio.run(_first_token(url, prompts[0])):.2f} s")
    config = EngineConfig(model=str(args.model), int8_activations="on", num_threads=1)
    runner = ModelRunner(config)
    for way in args.ways:
        key = _KEYS[way]
        with _prefill_engine(args.model, way) as address:
            connector = ZmqConnector(address, runner.blocks, api_key=key)
            asks = ["--prefill-from", address, "--prefill-api-key", key]
            with served(args.model, [*options, *asks]) as url:
                asyncio.run(_measure(way, url, vocab, prompts, connector, runner))
            connector.close()


async def _measure(
    way: str,
    url: str,
    vocab: int,
    prompts: list[list[int]],
    connector: ZmqConnector,
    runner: ModelRunner,
) -> None:
    first = await _first_token(url, prompts[0])
    _say(f"\n{way}: first token after {first:.2f} s")
    async with session(url) as client:
        work = Workloads(client, vocab)
        [alone] = await work.streams(1, _STREAM_PROMPT, 2 * _STREAM)
        fetch = asyncio.to_thread(_fetch, connector, runner, prompts[1])
        elsewhere, fetched = await _gaps_during(work, fetch)
        arriving, _ = await _gaps_during(work, ask(client, prompts[2], 1))
    _say(
        f"{fetched.num_bytes / 1e6:.1f} MB, the last block {1000 * fetched.late_s:.1f} ms after"
        " the prompt was computed\n\n| a stream's gap | median | p99 | longest |\n|---|--:|--:|--:|"
    )
    for name, gaps in (
        ("alone", alone.gaps),
        ("the other engine computes for somebody else", elsewhere),
        ("blocks arrive", arriving),
    ):
        found = (median(gaps), percentile(gaps, 99), max(gaps))
        _say(f"| {name} | " + " | ".join(f"{1000 * gap:.0f} ms" for gap in found) + " |")


async def _gaps_during(work: Workloads, other: Awaitable[T]) -> tuple[list[float], T]:
    """Gaps of streams, one after another, until the other thing is done."""
    running = asyncio.ensure_future(other)
    gaps: list[float] = []
    while not running.done():
        [stream] = await work.streams(1, _STREAM_PROMPT, _STREAM)
        gaps += stream.gaps
    return gaps, await running


def _fetch(connector: ZmqConnector, runner: ModelRunner, prompt: list[int]) -> Fetched:
    """As an engine does, into the cache of a model in this process.

    Raises:
        SystemExit: when not all comes.
    """
    blocks = range((len(prompt) - 1) // _BLOCK)
    incoming = Incoming(runner.blocks, blocks, 0)
    done = connector.fetch(PrefillTask(prompt, "somebody else", incoming))
    if done is None:
        raise SystemExit("the blocks did not come")
    return Fetched(incoming.size, time.time() - done.computed_at)


async def _first_token(url: str, prompt: list[int]) -> float:
    async with session(url) as client:
        await ask(client, prompt[:_BLOCK], 4)  # warm
        return (await ask(client, prompt, 1)).ttft


@contextmanager
def _prefill_engine(model: Path, way: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        address = f"ipc://{folder}/prefill" if way == "ipc" else f"tcp://127.0.0.1:{port}"
        options = ["--model", str(model), "--listen", address, "--threads", "1"]
        options += ["--api-key", _KEYS[way]]
        command = [
            sys.executable,
            "-m",
            "inference.connector",
            *options,
            "--int8-activations",
            "on",
        ]
        process = subprocess.Popen(command)  # noqa: S603
        try:
            until = time.monotonic() + _CONNECT_LIMIT_S
            while not _listens(way, port, Path(folder)) and time.monotonic() < until:
                time.sleep(0.1)
            yield address
        finally:
            process.terminate()
            process.wait()


def _listens(way: str, port: int, folder: Path) -> bool:
    if way == "ipc":
        return (folder / "prefill").exists()
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _prompt(vocab: int, length: int, seed: int) -> list[int]:
    return [100 + (seed * 7919 + place * place * 31) % (vocab - 200) for place in range(length)]


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
