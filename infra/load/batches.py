"""`make bench-batch-speed`: how busy a batch keeps an engine, beside the most that it can do.

The real engine is first driven directly, so many requests at a time without a pause (`--at-once`,
the pool's places); then a batch of the same requests runs through the product, which takes
no place to others (`backend/api/batches/loop.py`). By turns, several times. Compared are the
tokens a second that the engine itself counts, between the first and the last fifth of each run.
At last (`--probes`) somebody asks now and then beside a batch, and with nothing beside: how long
their first text takes.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from backend.generation.pools.http import Origin
from infra.load import engine
from infra.load.engine import first_text_s
from infra.load.stack import MODEL, Stack, StackError
from infra.load.upstream import question
from infra.services.ports import free_port
from infra.services.process import end_tree

_COUNTER = "vllm:generation_tokens_total"
_SAMPLE_S = 0.25
_EDGE = 0.2
_ENDED_S = 900.0
_PROBE_AFTER_S = 3.0

_tags = count(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--lines", type=int, default=200)
    parser.add_argument("--tokens", type=int, default=64, help="of each answer")
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--probes", type=int, default=12, help="0: none")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="parley-load-") as name:
        directory = Path(name)
        directory.chmod(0o711)  # the database's account must be able to pass
        port = free_port()
        process = engine.start(directory, port)
        try:
            with Stack(
                directory,
                rate=0.0,
                settings={"PARLEY_LOG_LEVEL": os.environ.get("PARLEY_LOG_LEVEL", "WARNING")},
                upstream_url=f"http://127.0.0.1:{port}",
                max_concurrency=arguments.at_once,
            ) as stack:
                asyncio.run(_measure(stack, arguments))
        finally:
            end_tree(process.pid)
            process.wait()


async def _measure(stack: Stack, arguments: argparse.Namespace) -> None:
    print("| run | directly, tokens/s | batch, tokens/s | ratio |\n|--:|--:|--:|--:|")
    ratios = []
    async with httpx.AsyncClient(timeout=600) as client:
        await _directly(client, stack, arguments)  # to warm up
        for run in range(1, arguments.runs + 1):
            direct = await _rate(client, stack, _directly(client, stack, arguments))
            batch = await _rate(client, stack, _by_batch(client, stack, arguments))
            ratios.append(batch / direct)
            print(f"| {run} | {direct:.0f} | {batch:.0f} | {batch / direct:.0%} |", flush=True)
        if ratios:
            ratio = statistics.median(ratios)
            print(
                f"\na batch keeps the engine {ratio:.0%} as busy as the most it can do (goal 90 %)"
            )
        if arguments.probes:
            await _probe(client, stack, arguments)


async def _probe(client: httpx.AsyncClient, stack: Stack, arguments: argparse.Namespace) -> None:
    """Print the first text's time of one request after the other, alone and beside a batch."""
    origin = Origin(stack.web_url)
    alone = [await first_text_s(origin, stack.key) for _ in range(arguments.probes)]
    running = asyncio.ensure_future(_by_batch(client, stack, arguments))
    await asyncio.sleep(_PROBE_AFTER_S)
    beside: list[float] = []
    while len(beside) < arguments.probes and not running.done():
        beside.append(await first_text_s(origin, stack.key))
    await running
    origin.close()
    print("\n| first text of one request | median, ms | worst, ms |\n|:--|--:|--:|")
    for name, times in (("alone", alone), (f"beside a batch ({len(beside)})", beside)):
        print(f"| {name} | {statistics.median(times) * 1e3:.0f} | {max(times) * 1e3:.0f} |")


async def _rate(client: httpx.AsyncClient, stack: Stack, work: Any) -> float:
    """Tokens a second of the engine while `work` is in its middle."""
    running = asyncio.ensure_future(work)
    samples = [(time.monotonic(), await _tokens(client, stack))]
    while not running.done():
        await asyncio.sleep(_SAMPLE_S)
        samples.append((time.monotonic(), await _tokens(client, stack)))
    await running
    first, last = samples[0][1], samples[-1][1]
    low, high = (first + (last - first) * part for part in (_EDGE, 1 - _EDGE))
    inner = [one for one in samples if low <= one[1] <= high]
    if len(inner) < 4:
        raise StackError("Too short to be measured: give more --lines.")
    (began, before), (ended, after) = inner[0], inner[-1]
    return (after - before) / (ended - began)


async def _tokens(client: httpx.AsyncClient, stack: Stack) -> float:
    text = (await client.get(f"{stack.upstream_url}/metrics")).text
    return sum(
        float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(_COUNTER)
    )


def _bodies(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for _ in range(arguments.lines):
        yield {
            "model": MODEL,
            "messages": [{"role": "user", "content": question(next(_tags))}],
            "max_tokens": arguments.tokens,
            "ignore_eos": True,
            "temperature": 0,
        }


async def _directly(client: httpx.AsyncClient, stack: Stack, arguments: argparse.Namespace) -> None:
    bodies = _bodies(arguments)

    async def ask() -> None:
        for body in bodies:
            answer = await client.post(f"{stack.upstream_url}/v1/chat/completions", json=body)
            answer.raise_for_status()

    await asyncio.gather(*(ask() for _ in range(arguments.at_once)))


async def _by_batch(client: httpx.AsyncClient, stack: Stack, arguments: argparse.Namespace) -> None:
    path, url = "/v1/chat/completions", f"{stack.web_url}/v1"
    headers = {"authorization": f"Bearer {stack.key}"}
    lines = [
        json.dumps({"custom_id": str(number), "method": "POST", "url": path, "body": body})
        for number, body in enumerate(_bodies(arguments))
    ]
    file = await client.post(
        f"{url}/files",
        headers=headers,
        data={"purpose": "batch"},
        files={"file": ("in.jsonl", "\n".join(lines).encode())},
    )
    file.raise_for_status()
    wanted = {"input_file_id": file.json()["id"], "endpoint": path, "completion_window": "24h"}
    made = await client.post(f"{url}/batches", headers=headers, json=wanted)
    made.raise_for_status()
    deadline = time.monotonic() + _ENDED_S
    while time.monotonic() < deadline:
        found = (await client.get(f"{url}/batches/{made.json()['id']}", headers=headers)).json()
        if found["status"] == "completed" and found["request_counts"]["failed"] == 0:
            return
        if found["status"] in ("completed", "failed", "expired", "cancelled"):
            raise StackError(f"The batch ended badly: {found}")
        await asyncio.sleep(1.0)
    raise StackError("The batch did not end in time.")


if __name__ == "__main__":
    main()
