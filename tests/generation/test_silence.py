"""A prompt that is read is no hang: how long an engine may be silent before its answer begins."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from backend.generation.pools.client import UpstreamClient, UpstreamStream
from backend.generation.pools.config import ReplicaConfig
from backend.generation.pools.errors import ReplicaUnavailable
from infra.load.upstream import SyntheticUpstream

StartUpstream = Callable[..., Awaitable[SyntheticUpstream]]
SILENCE_S = 0.3


async def ask(upstream: SyntheticUpstream, *, prompt: str) -> UpstreamStream:
    client = UpstreamClient(silence_s=SILENCE_S)
    body = {"messages": [{"role": "user", "content": prompt}], "max_tokens": 9, "stream": True}
    replica = ReplicaConfig("a", upstream.url)
    return await client.open(replica, "/v1/chat/completions", body, request_id="r", usage_key="u")


async def read(stream: UpstreamStream) -> int:
    """How many chunks came until its end."""
    count = 0
    async with asyncio.timeout(30):
        while chunks := await stream.chunks():
            count += len(chunks)
    return count


async def test_comments_show_that_the_engine_lives(start_upstream: StartUpstream) -> None:
    upstream = await start_upstream(first_delay_s=9 * SILENCE_S, ping_s=SILENCE_S / 6)
    stream = await ask(upstream, prompt="x")
    stream._response.limit_silence(SILENCE_S)  # without what a prompt's length adds
    assert await read(stream) >= 9


async def test_long_prompt_may_be_read_in_silence(start_upstream: StartUpstream) -> None:
    upstream = await start_upstream(first_delay_s=5 * SILENCE_S)
    assert await read(await ask(upstream, prompt="word " * 100)) >= 9


async def test_answer_that_has_begun_and_is_silent_hangs(start_upstream: StartUpstream) -> None:
    upstream = await start_upstream(hang_after=4)
    stream = await ask(upstream, prompt="word " * 1_000)
    with pytest.raises(ReplicaUnavailable, match="silent for 0 s"):
        await read(stream)
    assert upstream.served[0].sent == 4


async def test_silence_check_ends_with_the_answer(start_upstream: StartUpstream) -> None:
    """Its connection is another answer's then."""
    stream = await ask(await start_upstream(), prompt="x")
    await read(stream)
    stream._response.limit_silence(SILENCE_S)
    assert stream._response._silence is None
