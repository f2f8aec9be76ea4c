"""`python -m inference.bench.start --model PATH`: how long the engine loads, and its memory.

The file is read once before, so that it lies in the page cache. Seconds are from the command until
the engine is ready; beside them stands the processor time of its processes until then. Memory is
what they hold then, and after one answer: what they share is counted once, and the pages of the
model's file, which are the page cache's, apart. Keys and values take memory when a block is first
written: what the answer's took is told apart too.

A second table has the stages, one after another: the server until it has started the core; the
core's imports, weights, first token, keys and values; and what there is until the port answers.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx
import psutil
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from inference.bench.client import session
from inference.bench.engine import served
from inference.bench.limits import file_bytes
from inference.bench.workloads import Workloads
from inference.model.files.open import open_weights

_PROMPT, _ANSWER = 512, 64
_BLOCK = 16
_CORE = "inference.core_main"


@dataclass(frozen=True)
class Memory:
    """Bytes that processes hold, what they share counted once.

    Attributes:
        own: but for what follows.
        mapped: of the model's files.
    """

    own: int
    mapped: int


def memory_of(processes: list[psutil.Process], model: Path) -> Memory:
    """The memory of `processes`; Linux alone tells what is mapped."""
    pss = sum(process.memory_full_info().pss for process in processes)
    mapped = sum(
        area.pss
        for process in processes
        for area in process.memory_maps()
        if Path(area.path).is_relative_to(model.resolve())
    )
    return Memory(pss - mapped, mapped)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.bench.start", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file or a folder")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("serve_options", nargs="*", metavar="-- OPTION", default=[])
    args = parser.parse_args(arguments)
    size, vocab = file_bytes(args.model), open_weights(str(args.model)).config.vocab_size
    _read(args.model)
    out = sys.stdout
    out.write(
        f"{args.model.name}, {size / 1e6:,.0f} MB\n\n| | seconds to readiness | of processors "
    )
    out.write("| MB loaded | to the file | MB after an answer, without keys and values ")
    out.write("| to the file | MB of keys and values | MB of the file's pages |\n")
    out.write("|---|--:|--:|--:|--:|--:|--:|--:|--:|\n")
    seconds, stages = [], []
    for run in range(args.runs):
        began = time.monotonic()
        with served(args.model, args.serve_options) as url:
            seconds.append(time.monotonic() - began)
            processes = psutil.Process().children(recursive=True)
            times = [process.cpu_times() for process in processes]
            busy = sum(each.user + each.system for each in times)
            stages.append(_stages(url, seconds[-1]))
            loaded = memory_of(processes, args.model)
            asyncio.run(_answer(url, vocab))
            answered, kept = memory_of(processes, args.model), _kept_bytes(url)
        rest = answered.own - kept
        out.write(f"| {run + 1} | {seconds[-1]:.2f} | {busy:.2f} | {loaded.own / 1e6:,.0f} ")
        out.write(f"| {loaded.own / size:.2f} | {rest / 1e6:,.0f} | {rest / size:.2f} ")
        out.write(f"| {kept / 1e6:,.1f} | {answered.mapped / 1e6:,.1f} |\n")
        out.flush()
    out.write(f"\nReady after {median(seconds):.2f} s, the median. Seconds of its stages:\n\n")
    out.write(f"| | {' | '.join(stages[0])} |\n|---|{'--:|' * len(stages[0])}\n")
    for run, each in enumerate(stages):
        out.write(f"| {run + 1} | {' | '.join(f'{took:.2f}' for took in each.values())} |\n")


async def _answer(url: str, vocab: int) -> None:
    async with session(url) as client:
        await Workloads(client, vocab).streams(1, _PROMPT, _ANSWER)


def _stages(url: str, seconds: float) -> dict[str, float]:
    """Where the seconds until readiness went, in order."""
    processes = {process.pid: process for process in psutil.Process().children(recursive=True)}
    cores = [each for each in processes.values() if _CORE in each.cmdline()]
    core = max(cores, key=lambda each: each.create_time())
    server = processes[core.ppid()]
    stages = {"until the core starts": core.create_time() - server.create_time()}
    for sample in _samples(url):
        if sample.name == "parley:load_seconds":
            stages[sample.labels["stage"]] = sample.value
    return {**stages, "until the port answers": seconds - sum(stages.values())}


def _samples(url: str) -> list[Sample]:
    families = text_string_to_metric_families(httpx.get(f"{url}/metrics").text)
    return [sample for family in families for sample in family.samples]


def _kept_bytes(url: str) -> int:
    """What the keys and values of one answer take."""
    figures = {sample.name: sample.value for sample in _samples(url)}
    of_block = figures["parley:kv_cache_bytes"] / figures["parley:kv_blocks"]
    return int(-(-(_PROMPT + _ANSWER) // _BLOCK) * of_block)


def _read(model: Path) -> None:
    for file in [model] if model.is_file() else model.iterdir():
        if file.is_file():
            with file.open("rb") as opened:
                while opened.read(1 << 24):
                    pass


if __name__ == "__main__":
    main()
