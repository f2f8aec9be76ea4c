"""One streamed request, and when its tokens came.

Through aiohttp, whose parser is C: the client shares the processor with the engine that it times.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import aiohttp
import msgspec

_LIMIT_S = 1800.0


@dataclass(frozen=True)
class Timing:
    """One request: when it began and when each token came, in seconds of one clock."""

    began: float
    tokens: list[float]
    prompt_tokens: int

    @property
    def ttft(self) -> float:
        return self.tokens[0] - self.began

    @property
    def latency(self) -> float:
        return self.tokens[-1] - self.began

    @property
    def gaps(self) -> list[float]:
        return [after - before for before, after in zip(self.tokens, self.tokens[1:], strict=False)]

    @property
    def tpot(self) -> float | None:
        """Mean time of a token after the first; None when there is no such token."""
        more = len(self.tokens) - 1
        return (self.tokens[-1] - self.tokens[0]) / more if more else None


def session(url: str) -> aiohttp.ClientSession:
    """Connections to the server at `url`, as many as are asked for."""
    return aiohttp.ClientSession(
        url,
        # Uvicorn closes an idle connection after five seconds, whatever is just being asked on it.
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=2.0),
        timeout=aiohttp.ClientTimeout(total=_LIMIT_S),
        raise_for_status=True,
    )


async def chat(client: aiohttp.ClientSession, message: str, output: int) -> Timing:
    """Let a message be answered greedily in at most `output` tokens.

    Raises:
        aiohttp.ClientResponseError: when the server refuses.
    """
    messages = [{"role": "user", "content": message}]
    return await _stream(
        client, "/v1/chat/completions", {"messages": messages, "max_tokens": output}
    )


async def ask(
    client: aiohttp.ClientSession,
    prompt: list[int],
    output: int,
    sampling: Mapping[str, object] | None = None,
) -> Timing:
    """Complete `prompt` with exactly `output` tokens, greedily where no `sampling` is given.

    Raises:
        aiohttp.ClientResponseError: when the server refuses.
    """
    body = {"prompt": prompt, "max_tokens": output, "ignore_eos": True, **(sampling or {})}
    return await _stream(client, "/v1/completions", body)


async def _stream(client: aiohttp.ClientSession, path: str, body: dict[str, object]) -> Timing:
    body = {
        "temperature": 0,
        **body,
        "stream": True,
        # Counts in every chunk: one may hold several tokens, or one that completes no character.
        "stream_options": {"include_usage": True, "continuous_usage_stats": True},
    }
    began = time.perf_counter()
    tokens: list[float] = []
    prompt_tokens = 0
    async with client.post(path, json=body) as response:
        async for line in response.content:
            if line.startswith(b"data: {") and (usage := _chunk.decode(line[6:]).usage):
                tokens += [time.perf_counter()] * (usage.completion_tokens - len(tokens))
                prompt_tokens = usage.prompt_tokens
    return Timing(began, tokens, prompt_tokens)


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int


class _StreamChunk(msgspec.Struct):
    """What is read of a streamed chunk."""

    usage: _Usage | None = None


_chunk = msgspec.json.Decoder(_StreamChunk)
