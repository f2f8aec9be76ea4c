"""Reads many token streams at once and measures each token's way.

The synthetic upstream writes into each token the monotonic time at which it sent it; on one
machine that clock is everybody's, so the age of a token on arrival is its whole delay.
"""

import asyncio
import time
from dataclasses import dataclass, field

import orjson

from backend.generation.pools.http import Origin
from backend.platform.sse import EventDecoder
from infra.load.upstream import stamped_at


@dataclass
class Measurements:
    """Seconds: `ttft` from the request to the first token, `delays` of every token."""

    ttft: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    tokens: int = 0
    failed: int = 0
    errors: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Measurements") -> "Measurements":
        self.ttft += other.ttft
        self.delays += other.delays
        self.tokens += other.tokens
        self.failed += other.failed
        self.errors += other.errors
        return self


async def read_streams(
    url: str, *, model: str, key: str, streams: int, tokens: int, ramp_s: float
) -> Measurements:
    """Open `streams` streams, spread over `ramp_s` seconds, and read all to their end."""
    origin = Origin(url)
    measured = Measurements()
    body = orjson.dumps(
        {
            "model": model,
            "messages": [{"role": "user", "content": "Count for me, please."}],
            "max_tokens": tokens,
            "stream": True,
        }
    )
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}

    async def one(index: int) -> None:
        await asyncio.sleep(ramp_s * index / streams)
        try:
            await _read_one(origin, headers, body, measured)
        except Exception as error:  # whatever it is, the run goes on and reports it
            measured.failed += 1
            measured.errors.append(f"{type(error).__name__}: {error}")

    await asyncio.gather(*(one(index) for index in range(streams)))
    origin.close()
    return measured


async def _read_one(
    origin: Origin, headers: dict[str, str], body: bytes, measured: Measurements
) -> None:
    started = time.monotonic()
    response = await origin.request("POST", "/v1/chat/completions", headers=headers, body=body)
    if response.status != 200:
        answer = await response.read()
        raise RuntimeError(f"{response.status}: {answer[:200]!r}")
    decoder = EventDecoder()
    first = True
    while received := await response.read_some():
        now = time.monotonic_ns()
        for data in decoder.feed(received):
            if data == b"[DONE]":
                continue
            text = _text(data)
            if not text:
                continue
            if first:
                measured.ttft.append(time.monotonic() - started)
                first = False
            for word in text.split():
                measured.delays.append((now - stamped_at(word)) / 1e9)
                measured.tokens += 1


def _text(data: bytes) -> str:
    """The content of a chunk; the cheapest way that is right for chunks of one choice."""
    chunk = orjson.loads(data)
    if "error" in chunk:
        raise RuntimeError(str(chunk["error"]))
    choices = chunk["choices"]
    return choices[0]["delta"].get("content") or "" if choices else ""
