"""`make bench-gateway ENGINE=1`: answers of the real engine, read directly and through the product
by turns. Printed is by how much longer they take, and how much later they begin; and the bound: the
processor time of what stands in between, which the engine has not, as a part of what all processors
had until the answers' end. With `RELAY=1` also through a bare relay (`infra.load.relay`): what
anything in between costs beside this engine.
"""

import asyncio
import os
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import astuple, dataclass, replace
from itertools import count, pairwise
from pathlib import Path

import httpx
import orjson
import psutil

from backend.generation.pools.http import Origin
from backend.platform.sse import EventDecoder
from infra.launcher import procfile
from infra.load.stack import MODEL, Stack, StackError
from infra.load.upstream import question
from infra.services.ports import free_port
from infra.services.process import end_tree, spawn, tail

_TOKENS = 96
_READY_S = 120.0
_BILLED_S = 0.1
_WEIGHTS = procfile.ROOT / "var" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"

_EMPTY = b'"content":""'

_tags = count(1)


def measure(directory: Path, *, runs: int, relay: bool) -> None:
    """Print one line for one stream and one for eight; with `relay` two each."""
    port = free_port()
    engine = start(directory, port)
    try:
        url = f"http://127.0.0.1:{port}"
        with Stack(directory, rate=0.0, settings={}, upstream_url=url) as stack:
            ways = {"the product": (stack.web_url, stack.web_pid)}
            if relay:
                started = stack.start_relay()
                ways["a bare relay"] = (started.url, started.pid)
            asyncio.run(_measure(stack, runs, ways))
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


@dataclass(frozen=True, slots=True)
class Reading:
    """Answers that were read at the same time; seconds.

    Attributes:
        whole: until all had ended.
        first: the median one's until its first text.
        gap: between two parts of an answer, of a hundred the longest but one.
        parts: that an answer came in.
        cpu: of the process in between; 0 where there is none.
    """

    whole: float
    first: float
    gap: float
    parts: float
    cpu: float = 0.0


async def _measure(stack: Stack, runs: int, ways: dict[str, tuple[str, int]]) -> None:
    """
    Args:
        ways: to the engine, by what stands in between: its address and process.
    """
    print(f"real engine, answers of {_TOKENS} tokens; medians of {runs} runs\n")
    print(
        "| streams | through | seconds direct | through | added"
        " | the bound | CPU a token | first token direct | through | added",
        end="",
    )
    print(" | gap p99 direct | through | ratio | parts direct | through |")
    print("|--:|--|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    all_ways: dict[str, tuple[str, int | None]] = {"": (stack.upstream_url, None), **ways}
    for streams in (1, 8):
        for url, _ in all_ways.values():
            await _read(url, stack.key, streams)  # to warm up
        found: dict[str, list[Reading]] = {way: [] for way in all_ways}
        for _ in range(runs):
            for way, (url, pid) in all_ways.items():
                found[way].append(await _read(url, stack.key, streams, pid))
        for way in ways:
            print(_row(streams, way, _medians(found[""]), _medians(found[way])), flush=True)


def _row(streams: int, way: str, d: Reading, t: Reading) -> str:
    bound = t.cpu / (d.whole * (os.cpu_count() or 1))
    return (
        f"| {streams} | {way} | {d.whole:.2f} | {t.whole:.2f} | {t.whole / d.whole - 1:+.0%}"
        f" | {bound:+.0%} | {t.cpu / (streams * _TOKENS) * 1e6:.0f} µs"
        f" | {d.first * 1e3:.0f} ms | {t.first * 1e3:.0f} ms"
        f" | {(t.first - d.first) * 1e3:+.0f} ms | {d.gap * 1e3:.0f} ms | {t.gap * 1e3:.0f} ms"
        f" | {t.gap / d.gap:.1f} | {d.parts:.0f} | {t.parts:.0f} |"
    )


def _medians(runs: list[Reading]) -> Reading:
    """Of each figure; of the processor time, which is counted in ticks of 10 ms, the mean."""
    found = [statistics.median(one) for one in zip(*map(astuple, runs), strict=True)]
    return replace(Reading(*found), cpu=statistics.fmean(run.cpu for run in runs))


async def _read(url: str, key: str, streams: int, pid: int | None = None) -> Reading:
    """
    Args:
        pid: of the process at `url`, whose processor time is wanted.
    """
    origin = Origin(url)
    began, used = time.monotonic(), _cpu_s(pid)
    answers = await asyncio.gather(*(_text_times(origin, key) for _ in range(streams)))
    whole = time.monotonic() - began
    await asyncio.sleep(_BILLED_S)  # ending an answer is what it costs, too
    used = _cpu_s(pid) - used
    origin.close()
    gaps = [later - one for times in answers for one, later in pairwise(times[1:])]
    return Reading(
        whole,
        statistics.median(times[1] - times[0] for times in answers),
        statistics.quantiles(gaps, n=100, method="inclusive")[98],
        statistics.median(len(times) - 1 for times in answers),
        used,
    )


def _cpu_s(pid: int | None) -> float:
    if pid is None:
        return 0.0
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


async def first_text_s(origin: Origin, key: str) -> float:
    """Read an answer to its end; the seconds until its first text."""
    asked, first, *_ = await _text_times(origin, key)
    return first - asked


async def _text_times(origin: Origin, key: str) -> list[float]:
    """Read an answer to its end: when it was asked for, and when parts with text came."""
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": question(next(_tags))}],
        "max_tokens": _TOKENS,
        "temperature": 0,
        "stream": True,
    }
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    times = [time.monotonic()]
    response = await origin.request(
        "POST", "/v1/chat/completions", headers=headers, body=orjson.dumps(body)
    )
    if response.status != 200:
        raise StackError(f"{response.status}: {await response.read()!r}")
    decoder = EventDecoder()
    while received := await response.read_some():
        texts = [d for d in decoder.feed(received) if b'"content":"' in d and _EMPTY not in d]
        if texts:
            times.append(time.monotonic())
    if len(times) < 4:
        raise StackError(f"an answer came in {len(times) - 1} parts")
    return times
