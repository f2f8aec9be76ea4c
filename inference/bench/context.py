"""`python -m inference.bench.context --model PATH`: what a long context costs.

Over HTTP, for each length of the prompt: the time to the first token when nothing is cached, when
all of it is, and with one turn more; the tokens a second that follow it; the memory of the engine's
processes. `random` stands for a small random model of 131,072 positions. Then, in this process:
what a decode step costs beside the model's own computing, which no length should change.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch
from torch import Tensor

from inference.bench.client import ask, session
from inference.bench.engine import memory_of_processes, served
from inference.bench.random_model import write_random_model
from inference.bench.workloads import Workloads
from inference.config import EngineConfig, SpeculationConfig
from inference.core import SamplingParams
from inference.engine.engine_core import EngineCore
from inference.kernels.batch import Batch, LayerCache
from inference.model.decoder import Decoder, Hidden
from inference.model.files.open import open_weights
from inference.protocol import AddRequest
from inference.runner.model_runner import ModelRunner

_RANDOM = "random"
_LENGTHS = (2048, 8192, 32768, 131072)
_TURN = 64
"""Tokens of one turn more."""
_OUTPUT = 24
_HOST_STEPS = 60
_PENALTY = 1.1


@dataclass(frozen=True)
class Figures:
    """What a prompt of `length` tokens costs; seconds, tokens a second, bytes."""

    length: int
    cold: float
    cached: float
    turn: float
    decode: float
    memory: int


def main() -> None:
    args = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        small = write_random_model(Path(folder) / _RANDOM)
        for name in args.model:
            path = small if name == _RANDOM else Path(name)
            _print_served(path, args.lengths, args.serve_options)
        _print_host(small, args.lengths)


def _print_served(path: Path, lengths: Sequence[int], options: Sequence[str]) -> None:
    config = open_weights(str(path)).config
    room = _TURN + _OUTPUT + 1
    wanted = [n for n in lengths if n <= config.max_position]
    load = os.getloadavg()[0]
    _say(f"\n{path.name}, load {load:.1f} at the beginning\n")
    _say("| prompt | first token, cold | cached | one turn more | tokens/s after it | memory |")
    _say("|--:|--:|--:|--:|--:|--:|")
    with served(path, [*options, "--no-prompt-lookup"]) as url:
        for length in wanted:
            tokens = min(length, config.max_position - room)
            found = asyncio.run(_measure(url, config.vocab_size, tokens))
            _say(
                f"| {found.length:,} | {found.cold:.2f} s | {found.cached:.3f} s | "
                f"{found.turn:.3f} s | {found.decode:.1f} | {found.memory / 1e9:.2f} GB |"
            )


async def _measure(url: str, vocab: int, length: int) -> Figures:
    async with session(url) as client:
        work = Workloads(client, vocab, seed=length)
        await work.streams(1, 64, 8)  # warm
        [prompt] = work.prompts(1, length)
        cold = await ask(client, prompt, 1)
        cached = await ask(client, prompt, 1)
        answered = await ask(client, prompt, 1 + _OUTPUT)
        [more] = work.prompts(1, _TURN)
        turn = await ask(client, prompt + more, 1)
    assert answered.tpot is not None
    rate = 1 / answered.tpot
    return Figures(length, cold.ttft, cached.ttft, turn.ttft, rate, memory_of_processes())


def _print_host(model: Path, lengths: Sequence[int]) -> None:
    _say("\na decode step beside the model, one stream, median\n")
    _say("| context | plain | with a repetition penalty |\n|--:|--:|--:|")
    for length in lengths:
        with _core(model) as (core, clock):
            steps = [
                _host_seconds(core, clock, length, penalty=penalty) for penalty in (1.0, _PENALTY)
            ]
        _say(f"| {length:,} | " + " | ".join(f"{1e6 * each:,.0f} µs" for each in steps) + " |")


class _Clocked:
    """A decoder that adds up the time that it takes."""

    def __init__(self, model: Decoder) -> None:
        self._model = model
        self.seconds = 0.0

    def hidden(self, batch: Batch, caches: list[LayerCache]) -> Hidden:
        began = time.perf_counter()
        hidden = self._model.hidden(batch, caches)
        self.seconds += time.perf_counter() - began
        return hidden

    def normed(self, hidden: Hidden, rows: Tensor) -> Tensor:
        return self._model.normed(hidden, rows)

    def logits(self, hidden: Hidden, rows: Tensor) -> Tensor:
        began = time.perf_counter()
        logits = self._model.logits(hidden, rows)
        self.seconds += time.perf_counter() - began
        return logits


@contextmanager
def _core(model: Path) -> Iterator[tuple[EngineCore, _Clocked]]:
    config = EngineConfig(
        model=str(model), device="cpu", speculation=SpeculationConfig(prompt_lookup=False)
    )
    runner = ModelRunner(config)
    decoder = runner._model
    assert isinstance(decoder, Decoder)
    clock = _Clocked(decoder)
    runner._model = runner._decoder = clock  # type: ignore[assignment]
    try:
        yield EngineCore(config, runner), clock
    finally:
        runner.close()


def _host_seconds(core: EngineCore, clock: _Clocked, length: int, *, penalty: float) -> float:
    """Of a decode step at this context, what is not the model; the prompt is cached afterwards."""
    length = min(length, core.runner.max_model_len - _HOST_STEPS - 8)
    prompt = torch.randint(3, core.runner.vocab_size, (length,), generator=_seeded(length)).tolist()
    sampling = SamplingParams(
        max_tokens=_HOST_STEPS, temperature=0.0, ignore_eos=True, repetition_penalty=penalty
    )
    core.add(AddRequest(f"{length}-{penalty}", prompt, sampling))
    seen: list[float] = []
    while core.scheduler.has_work:
        clock.seconds = 0.0
        began = time.perf_counter()
        outputs = core.step()
        spent = time.perf_counter() - began - clock.seconds
        if outputs:
            seen.append(spent)
    return median(seen[1:])  # the first is the end of the prompt


def _seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m inference.bench.context",
        description=__doc__,
        epilog="What follows -- is handed to `python -m inference serve`.",
    )
    parser.add_argument(
        "--model", nargs="+", default=[_RANDOM], help="GGUF files, folders, or `random`"
    )
    parser.add_argument("--lengths", nargs="+", type=int, default=list(_LENGTHS))
    parser.add_argument("serve_options", nargs="*", metavar="-- OPTION", default=[])
    return parser


if __name__ == "__main__":
    main()
