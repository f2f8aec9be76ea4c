"""Reads many token streams at once and measures each token's way.

The synthetic upstream remembers the monotonic time at which it sent each token; on one machine
that clock is shared, so the age of a token on arrival is its whole delay. A token has arrived when
its last character has.
"""

import asyncio
import time
from dataclasses import dataclass, field
from itertools import count

import orjson

from backend.generation.pools.http import Origin
from backend.platform.sse import EventDecoder
from infra.load.upstream import question

_tags = count(1)


@dataclass
class Measurements:
    """Seconds: `ttft` from the request to the first token, `delays` of every token.

    Attributes:
        characters: that have arrived so far; grows while streams are read.
        open: streams that have had text and not ended.
    """

    ttft: list[float] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    failed: int = 0
    characters: int = 0
    open: int = 0
    errors: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Measurements") -> "Measurements":
        self.ttft += other.ttft
        self.delays += other.delays
        self.failed += other.failed
        self.characters += other.characters
        self.errors += other.errors
        return self


async def read_streams(
    url: str,
    *,
    upstream_url: str,
    model: str,
    key: str,
    streams: int,
    tokens: int,
    ramp_s: float,
    measured: Measurements | None = None,
    origin: Origin | None = None,
) -> Measurements:
    """Open `streams` streams, spread over `ramp_s` seconds, and read all to their end.

    Args:
        url: what is read from; `upstream_url`: the synthetic upstream behind it, or itself.
        measured: filled while they are read, and returned.
        origin: `url`, with connections that are kept; None opens new ones, and closes them.
    """
    reading, upstream = origin or Origin(url), Origin(upstream_url)
    measured = measured if measured is not None else Measurements()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}

    async def one(index: int) -> None:
        await asyncio.sleep(ramp_s * index / streams)
        tag = next(_tags)
        body = {
            "model": model,
            "messages": [{"role": "user", "content": question(tag)}],
            "max_tokens": tokens,
            "stream": True,
        }
        try:
            arrived = await _read_one(reading, headers, orjson.dumps(body), measured)
            measured.delays += _delays(arrived, await _sent(upstream, tag))
        except Exception as error:  # whatever it is, the run goes on and reports it
            measured.failed += 1
            measured.errors.append(f"{type(error).__name__}: {error}")

    await asyncio.gather(*(one(index) for index in range(streams)))
    if origin is None:
        reading.close()
    upstream.close()
    return measured


async def _read_one(
    origin: Origin, headers: dict[str, str], body: bytes, measured: Measurements
) -> list[tuple[int, int]]:
    """For each chunk of text: the characters of the answer up to its end, monotonic ns."""
    started = time.monotonic()
    response = await origin.request("POST", "/v1/chat/completions", headers=headers, body=body)
    if response.status != 200:
        answer = await response.read()
        raise RuntimeError(f"{response.status}: {answer[:200]!r}")
    decoder = EventDecoder()
    arrived: list[tuple[int, int]] = []
    length = 0
    while received := await response.read_some():
        now = time.monotonic_ns()
        for data in decoder.feed(received):
            text = "" if data == b"[DONE]" else _text(data)
            if not text:
                continue
            if not arrived:
                measured.ttft.append(time.monotonic() - started)
                measured.open += 1
            length += len(text)
            measured.characters += len(text)
            arrived.append((length, now))
    measured.open -= bool(arrived)
    return arrived


async def _sent(upstream: Origin, tag: int) -> list[tuple[int, int]]:
    response = await upstream.request("GET", f"/sent/{tag}", headers={}, body=b"")
    tokens: list[tuple[int, int]] = orjson.loads(await response.read())["tokens"]
    return tokens


def _delays(arrived: list[tuple[int, int]], sent: list[tuple[int, int]]) -> list[float]:
    """Seconds that each token took.

    Raises:
        RuntimeError: not all of what was sent has arrived.
    """
    delays: list[float] = []
    chunks = iter(arrived)
    length, at = 0, 0
    for end, sent_at in sent:
        while length < end:
            try:
                length, at = next(chunks)
            except StopIteration:
                raise RuntimeError(f"{length} characters arrived, {sent[-1][0]} sent") from None
        delays.append((at - sent_at) / 1e9)
    return delays


def _text(data: bytes) -> str:
    """The content of a chunk; the cheapest way that is right for chunks of one choice."""
    chunk = orjson.loads(data)
    if "error" in chunk:
        raise RuntimeError(str(chunk["error"]))
    choices = chunk["choices"]
    return choices[0]["delta"].get("content") or "" if choices else ""
