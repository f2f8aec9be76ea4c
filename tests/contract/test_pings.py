"""A silent stream is pinged: comments, which the official clients' decoders pass over."""

import asyncio

import anthropic._streaming
import openai._streaming
import pytest

from backend.api.sse import event_stream
from backend.generation.request import DONE, Event


@pytest.mark.parametrize("decoder", [openai._streaming.SSEDecoder, anthropic._streaming.SSEDecoder])
async def test_pings_are_no_events_to_official_clients(decoder):
    async def events():
        yield Event(1, b"{}")
        await asyncio.sleep(0.1)
        yield Event(2, DONE)

    stream = event_stream(events(), ping_interval_s=0.02)
    body = b"".join([part async for part in stream])
    assert b": ping" in body
    assert [event.data for event in decoder().iter_bytes(iter([body]))] == ["{}", "[DONE]"]
