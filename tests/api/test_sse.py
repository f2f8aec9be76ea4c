"""The encoder of server-sent events: order, pings, errors, and leaving."""

import asyncio
from collections.abc import AsyncIterator

from hypothesis import given
from hypothesis import strategies as st

from backend.api.sse import event_stream
from backend.generation.request import DONE, Event
from backend.platform.errors import UpstreamFailed
from tests.api.event_stream import read_events


async def _all(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([part async for part in stream])


@given(st.lists(st.integers(0, 10**6), max_size=40), st.integers(0, 1000))
def test_encoded_events_keep_order_and_ids(values, first):
    async def events():
        for offset, value in enumerate(values):
            yield Event(first + offset, b'{"n":%d}' % value)
            if value % 3 == 0:
                await asyncio.sleep(0)
        yield Event(first + len(values), DONE)

    body = asyncio.run(_all(event_stream(events())))
    read = read_events(body)
    assert [event.id for event in read] == [str(first + n) for n in range(len(values) + 1)]
    assert [event.json["n"] for event in read[:-1]] == values
    assert read[-1].data == "[DONE]"


async def test_silent_stream_is_pinged_and_continues():
    pinged_enough = asyncio.Event()

    async def events():
        yield Event(1, b"{}")
        await pinged_enough.wait()
        yield Event(2, DONE)

    body = b""
    async for part in event_stream(events(), ping_interval_s=0.02):
        body += part
        if body.count(b": ping\n") == 2:
            pinged_enough.set()
    assert body.count(b": ping\n") >= 2
    assert [event.id for event in read_events(body)] == ["1", "2"]


async def test_typed_error_becomes_an_error_event_and_done():
    async def events():
        yield Event(1, b"{}")
        raise UpstreamFailed("Every replica failed.")

    read = read_events(await _all(event_stream(events())))
    assert read[1].json["error"]["code"] == "upstream_failed"
    assert read[1].id is None, "a client may come back for what follows event 1"
    assert read[2].data == "[DONE]"


async def test_unexpected_error_reveals_nothing():
    async def events():
        for seq in range(2):
            if seq == 1:
                raise RuntimeError("postgresql://user:password@host")
            yield Event(seq, b"{}")

    body = await _all(event_stream(events()))
    assert b"password" not in body
    assert b"internal_error" in body and body.endswith(b"data: [DONE]\n\n")


async def test_nothing_follows_done():
    async def events():
        yield Event(1, DONE)
        yield Event(2, b"{}")

    assert [e.data for e in read_events(await _all(event_stream(events())))] == ["[DONE]"]


async def test_source_is_closed_when_reader_disconnects():
    closed = asyncio.Event()

    async def events():
        try:
            for seq in range(10**9):
                yield Event(seq, b"{}")
                await asyncio.sleep(0.001)
        finally:
            closed.set()

    stream = event_stream(events())
    await anext(stream)
    await stream.aclose()
    assert closed.is_set()


async def test_slow_reader_applies_backpressure_to_its_source():
    produced = 0

    async def events():
        nonlocal produced
        for seq in range(100_000):
            produced += 1
            yield Event(seq, b"{}")

    stream = event_stream(events())
    await anext(stream)
    await asyncio.sleep(0.05)
    assert produced < 2_000
    await stream.aclose()
