"""`make bench-gateway ENGINE=1`: eight answers of the real engine, read directly and through the
product by turns. Printed is by how much longer they take, and how much later they begin."""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import httpx
import orjson

from backend.generation.pools.http import Origin
from backend.platform.sse import EventDecoder
from infra.launcher import procfile
from infra.load.stack import MODEL, Stack, StackError
from infra.load.upstream import question
from infra.services.ports import free_port
from infra.services.process import end_tree, spawn, tail

_TOKENS = 96
_READY_S = 120.0
_WEIGHTS = procfile.ROOT / "var" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"

_tags = count(1)


def measure(directory: Path, *, runs: int) -> None:
    """Print one line for one stream and one for eight."""
    port = free_port()
    engine = start(directory, port)
    try:
        url = f"http://127.0.0.1:{port}"
        with Stack(directory, rate=0.0, settings={}, upstream_url=url) as stack:
            asyncio.run(_measure(stack, runs))
    finally:
        end_tree(engine.pid)
        engine.wait()


def start(directory: Path, port: int) -> subprocess.Popen[bytes]:
    weights = os.environ.get("PARLEY_MODEL_FILE", str(_WEIGHTS))
    process = spawn(
        [
            *(sys.executable, "-m", "inference", "serve", "--model", weights),
            *("--served-model-name", MODEL, "--int8-activations", "auto"),
            *("--host", "127.0.0.1", "--port", str(port), "--no-api-key"),
        ],
        log=directory / "engine.log",
        environment=dict(os.environ),
        death_signal=signal.SIGKILL,
        cwd=procfile.ROOT,
    )
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"http://127.0.0.1:{port}/ready", timeout=5).status_code == 200:
                return process
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise StackError(tail(directory / "engine.log", lines=30))


async def _measure(stack: Stack, runs: int) -> None:
    print(f"real engine, answers of {_TOKENS} tokens; medians of {runs} runs\n")
    print("| streams | seconds direct | through | added | first token direct | through | added |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for streams in (1, 8):
        for url in (stack.upstream_url, stack.web_url):
            await _read(url, stack.key, streams)  # to warm up
        direct, through = [], []
        for _ in range(runs):
            direct.append(await _read(stack.upstream_url, stack.key, streams))
            through.append(await _read(stack.web_url, stack.key, streams))
        (d_s, d_first), (t_s, t_first) = (_medians(found) for found in (direct, through))
        print(
            f"| {streams} | {d_s:.2f} | {t_s:.2f} | {t_s / d_s - 1:+.0%} | {d_first * 1e3:.0f} ms"
            f" | {t_first * 1e3:.0f} ms | {(t_first - d_first) * 1e3:+.0f} ms |",
            flush=True,
        )


def _medians(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)


async def _read(url: str, key: str, streams: int) -> tuple[float, float]:
    """Seconds until all answers had ended, and the median one's until its first text."""
    origin = Origin(url)
    began = time.monotonic()
    firsts = await asyncio.gather(*(first_text_s(origin, key) for _ in range(streams)))
    took = time.monotonic() - began
    origin.close()
    return took, statistics.median(firsts)


async def first_text_s(origin: Origin, key: str) -> float:
    """Read an answer to its end; the seconds until its first text."""
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": question(next(_tags))}],
        "max_tokens": _TOKENS,
        "temperature": 0,
        "stream": True,
    }
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    began, first = time.monotonic(), None
    response = await origin.request(
        "POST", "/v1/chat/completions", headers=headers, body=orjson.dumps(body)
    )
    if response.status != 200:
        raise StackError(f"{response.status}: {await response.read()!r}")
    decoder = EventDecoder()
    while received := await response.read_some():
        for data in decoder.feed(received):
            if first is None and b'"content":"' in data and b'"content":""' not in data:
                first = time.monotonic() - began
    return first if first is not None else time.monotonic() - began
