"""What a token costs to read at a stream's pace: `python -m infra.load.costs --reads`.

Many streams of the synthetic upstream at 30 tokens/s, read and decoded as a generation does, and
nothing else. Each connection is read as its chunks come, then once a wake (`Pace.polls`), in turns;
CPU time of this process, medians.
"""

import asyncio
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import orjson
import uvloop

from backend.generation.pools import pace
from backend.generation.pools.chunks import decode_chunk
from backend.generation.pools.http import Origin
from backend.generation.pools.pace import Pace
from backend.platform.sse import EventDecoder
from infra.load.costs.ready import until_ready
from infra.services.ports import free_port
from infra.services.process import end_tree

_TURNS = 3
_SETTLED_S, _MEASURED_S = 2.0, 3.0
_TOKENS = int(30 * (_SETTLED_S + _MEASURED_S))
_NEVER = float("inf")


@dataclass(slots=True)
class _Counts:
    tokens: int = 0
    wakes: int = 0


def main() -> None:
    port = free_port()
    upstream = subprocess.Popen([sys.executable, "-m", "infra.load.upstream", "--port", str(port)])
    try:
        uvloop.run(_measure(f"http://127.0.0.1:{port}"))
    finally:
        end_tree(upstream.pid)
        upstream.wait()


async def _measure(url: str) -> None:
    await until_ready(url)
    print("| streams | a read a chunk: µs a token | tokens a wake | a read a wake | |")
    print("|--:|--:|--:|--:|--:|")
    read_from = (_NEVER, pace.MIN_CHUNKS_A_READ)
    for streams in (100, 300):
        found: dict[float, list[tuple[float, float]]] = {chunks: [] for chunks in read_from}
        for _ in range(_TURNS):
            for chunks, runs in found.items():
                pace.MIN_CHUNKS_A_READ = chunks
                runs.append(await _cost(url, streams))
        columns = [column for runs in found.values() for column in zip(*runs, strict=True)]
        cells = [f"{statistics.median(column):.1f}" for column in columns]
        print(f"| {streams} | {' | '.join(cells)} |", flush=True)


async def _cost(url: str, streams: int) -> tuple[float, float]:
    """CPU µs of a token, and tokens a wake, once all streams are open."""
    shared, counts = Pace(), _Counts()
    reading = [
        asyncio.create_task(_read(url, shared, counts, number / streams))
        for number in range(streams)
    ]
    await asyncio.sleep(_SETTLED_S)
    cpu, before = time.process_time(), _Counts(counts.tokens, counts.wakes)
    await asyncio.sleep(_MEASURED_S - 1.0)
    cpu, tokens = time.process_time() - cpu, counts.tokens - before.tokens
    wakes = counts.wakes - before.wakes
    await asyncio.gather(*reading)
    if counts.tokens != streams * _TOKENS:
        raise RuntimeError(f"{counts.tokens} tokens of {streams * _TOKENS} were read")
    return cpu / tokens * 1e6, tokens / wakes


async def _read(url: str, shared: Pace, counts: _Counts, begins_after: float) -> None:
    await asyncio.sleep(begins_after)
    origin = Origin(url)
    body = {
        "messages": [{"role": "user", "content": "count"}],
        "max_tokens": _TOKENS,
        "stream_options": {"continuous_usage_stats": True},
    }
    response = await origin.request("POST", "/v1/chat/completions", body=orjson.dumps(body))
    decoder = EventDecoder()
    is_first = True
    while received := await response.read_some():
        counts.wakes += 1
        chunks = [decode_chunk(data) for data in decoder.feed(received) if data != b"[DONE]"]
        counts.tokens += sum(bool(chunk.text) for chunk in chunks)
        if is_first:
            is_first = False
            response.set_pace(shared)
    origin.close()
