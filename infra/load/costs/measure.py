"""What each station of a token costs a web process, in CPU time: `python -m infra.load.costs`.

CPU time, not elapsed time, so that a busy machine does not change the answer. Each station is
the product's own code on real input; Valkey and the synthetic upstream are other processes.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import httpx
import orjson
import uvloop
from redis.asyncio import Redis

from backend.generation.pools.chunks import UpstreamChunk, decode_chunk
from backend.generation.pools.http import Origin
from backend.generation.run.chunk_encoder import ChunkEncoder
from backend.generation.run.output import ChoiceOutput
from backend.generation.run.replay import EventMeta
from backend.generation.stream import keys
from backend.generation.stream.log import EventLog
from backend.generation.stream.writer import BufferWriter
from backend.generation.usage import Usage
from backend.platform.sse import EventDecoder
from infra.load.costs.ready import until_ready
from infra.load.upstream import words
from infra.services.ports import free_port
from infra.services.process import end_tree
from infra.services.valkey import ValkeyService
from safety.judge.policy import DEFAULT_POLICY

_STORY = """The river bends twice before it reaches the old mill, where children sell apples and
tell each visitor the same story about a fox that learned to count."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--tokens", type=int, default=4000)
    tokens: int = parser.parse_args().tokens
    port = free_port()
    upstream = subprocess.Popen(
        [sys.executable, "-m", "infra.load.upstream", "--port", str(port), "--rate", "500"]
    )
    try:
        uvloop.run(_measure(f"http://127.0.0.1:{port}", tokens))
    finally:
        end_tree(upstream.pid)
        upstream.wait()


async def _measure(url: str, tokens: int) -> None:
    print("| station | CPU µs a token |\n|--|--:|")
    await until_ready(url)
    await _print("read from the upstream (ours)", tokens, lambda: _read_ours(url, tokens))
    await _print("read from the upstream (httpx)", tokens, lambda: _read_httpx(url, tokens))
    await _print("post-check, count (one token a chunk)", tokens, lambda: _check(tokens, 1))
    await _print("post-check, count (eight tokens a chunk)", tokens, lambda: _check(tokens, 8))
    await _print("write the chunk", tokens, lambda: _encode(tokens))
    with tempfile.TemporaryDirectory(prefix="parley-costs-") as name:
        valkey = ValkeyService(Path(name) / "valkey", durable=False)
        valkey.start()
        try:
            for streams in (1, 20, 200):
                await _print(
                    f"append to the buffer ({streams} streams)",
                    tokens,
                    lambda streams=streams: _append(valkey.url, tokens, streams),  # type: ignore[misc]
                )
        finally:
            valkey.stop()


async def _print(station: str, tokens: int, work: Callable[[], Awaitable[None]]) -> None:
    await work()  # once to warm up: imports, models, connections
    before = time.process_time()
    await work()
    print(f"| {station} | {(time.process_time() - before) / tokens * 1e6:.0f} |", flush=True)


def _request(tokens: int) -> bytes:
    return orjson.dumps(
        {
            "messages": [{"role": "user", "content": "count"}],
            "max_tokens": tokens,
            "stream_options": {"include_usage": True, "continuous_usage_stats": True},
        }
    )


_STREAMS = 8


async def _read_ours(url: str, tokens: int) -> None:
    async def one() -> None:
        origin = Origin(url)
        response = await origin.request(
            "POST", "/v1/chat/completions", body=_request(tokens // _STREAMS)
        )
        decoder = EventDecoder()
        while received := await response.read_some():
            for data in decoder.feed(received):
                if data != b"[DONE]":
                    decode_chunk(data)
        origin.close()

    await asyncio.gather(*(one() for _ in range(_STREAMS)))


async def _read_httpx(url: str, tokens: int) -> None:
    async with httpx.AsyncClient(timeout=60) as client:

        async def one() -> None:
            body = _request(tokens // _STREAMS)
            async with client.stream("POST", f"{url}/v1/chat/completions", content=body) as answer:
                decoder = EventDecoder()
                async for received in answer.aiter_bytes():
                    for data in decoder.feed(received):
                        if data != b"[DONE]":
                            decode_chunk(data)

        await asyncio.gather(*(one() for _ in range(_STREAMS)))


async def _check(tokens: int, together: int) -> None:
    choice = ChoiceOutput(0, policy=DEFAULT_POLICY, context=[])
    story = _STORY.split()
    for first in range(0, tokens, together):
        chunks = [
            UpstreamChunk(f"{story[number % len(story)]} ", None, None, Usage(5, 0, number + 1))
            for number in range(first, first + together)
        ]
        choice.feed(chunks)


async def _encode(tokens: int) -> None:
    encoder = ChunkEncoder(
        public_id="chatcmpl-x", created=0, model="m", endpoint="chat", stream_usage=False
    )
    prompt = Usage(input_tokens=5)
    for number in range(tokens):
        encoder.text(0, words(number, number + 1), None)
        EventMeta(0, number, prompt).encoded()


async def _append(url: str, tokens: int, streams: int) -> None:
    """Each stream gets a token at a time and waits until it is stored."""
    data, meta = b"x" * 180, b"0123456789"

    async def never(event_log: EventLog) -> None:
        raise RuntimeError("the lease was lost")

    async with Redis.from_url(url, protocol=2) as redis:
        writer = BufferWriter(redis, on_missing=never, ttl_ms=60_000)
        task = asyncio.create_task(writer.shards[0].run())

        logs = [EventLog(uuid4(), "1:costs") for _ in range(streams)]
        for event_log in logs:
            await redis.set(keys.lease(event_log.generation_id), "1:costs")

        async def one(event_log: EventLog) -> None:
            for _ in range(tokens // streams):
                event_log.append(data, meta)
                writer.mark(event_log)
                await event_log.wait_stored(event_log.last)

        await asyncio.gather(*(one(event_log) for event_log in logs))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
