"""`python -m inference.bench --model PATH`: serve the model, measure, print."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import httpx

from inference.bench.peers import machine_limits, transformers_static
from inference.bench.workloads import Result, Workloads

_START_LIMIT_S = 300.0


async def measure(url: str, vocab: int) -> list[Result]:
    async with httpx.AsyncClient(base_url=url, timeout=600) as client:
        work = Workloads(client, vocab)
        await work.streams(1, 64, 8)  # warm
        results = [
            Result.of("1 stream, prompt 512, 48 tokens", await work.streams(1, 512, 48)),
            Result.of("8 streams, prompt 128, 32 tokens", await work.streams(8, 128, 32)),
            Result.of("prompt 1,000, 1 token", await work.streams(1, 1000, 1)),
        ]
        cold, warm = await work.repeated_prefix(1500, 20)
        results.append(Result.of("prompt 1,520, nothing cached", [cold]))
        results.append(Result.of("prompt 1,520, first 1,500 cached", [warm]))
        results.extend(await work.long_prompt_among_streams(4, 2000))
        return results


@contextmanager
def served(model: Path) -> Iterator[str]:
    """The engine on a free port; yields its address once it is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["-m", "inference", "serve", "--model", str(model), "--port", str(port)]
    process = subprocess.Popen([sys.executable, *command])  # noqa: S603
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + _START_LIMIT_S
        while not _is_ready(url):
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit("the engine did not start")
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready").status_code == 200
    except httpx.TransportError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m inference.bench", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="a GGUF file")
    parser.add_argument("--vocab", type=int, default=49000, help="random token ids below this")
    parser.add_argument("--no-peers", action="store_true", help="leave transformers out")
    parser.add_argument("--json", type=Path, help="write the figures here too")
    args = parser.parse_args()
    load_before = os.getloadavg()[0]
    with served(args.model) as url:
        results = asyncio.run(measure(url, args.vocab))
    if not args.no_peers:
        results.append(transformers_static(args.model, 512, 12))
    limits = machine_limits()
    print(f"{os.cpu_count()} cores, load {load_before:.1f} before the run;", end=" ")
    print(", ".join(f"{name} {value:.1f}" for name, value in limits.items()), end="\n\n")
    print("| workload | TTFT ms | TPOT ms | ITL p99 ms | tokens/s |\n|---|---|---|---|---|")
    for row in results:
        values = (row.ttft_ms, row.tpot_ms, row.itl_p99_ms, row.tokens_per_s)
        print(f"| {row.workload} | " + " | ".join(f"{value:,.1f}" for value in values) + " |")
    if args.json:
        report = {"limits": limits, "results": [asdict(row) for row in results]}
        args.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
