"""When streams take what has arrived."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import orjson
import pytest

from backend.generation.pools.chunks import decode_chunk
from backend.generation.pools.client import READS_AT_ONCE, UpstreamClient
from backend.generation.pools.config import ReplicaConfig
from backend.generation.pools.errors import ReplicaUnavailable
from backend.generation.pools.http import Origin, Response
from backend.generation.pools.pace import (
    FRAME_S,
    MAX_BUSY_INTERVAL_S,
    MAX_INTERVAL_S,
    MAX_WAKES_PER_S,
    STREAMS_A_BUSY_TURN,
    STREAMS_A_TURN,
    Pace,
    interval_s,
    max_interval_s,
)
from backend.platform.sse import EventDecoder
from infra.load.upstream import Behaviour, SyntheticUpstream, words


def test_few_streams_are_woken_for_every_chunk():
    assert interval_s(1, 30) == interval_s(50, 1_500) == 0.0


def test_many_streams_share_the_wakes_and_none_waits_longer_than_the_bound():
    assert interval_s(90, 2_700) == 90 / MAX_WAKES_PER_S
    assert interval_s(10_000, 300_000) == MAX_INTERVAL_S


def test_waits_grow_to_their_bound_while_the_loop_is_busy_and_shrink_when_it_is_not():
    longest = [MAX_INTERVAL_S]
    for busy in (0.7, 0.95, *[1.0] * 20):
        longest.append(max_interval_s(longest[-1], busy))
    assert longest[1] == MAX_INTERVAL_S < longest[2] <= longest[3]
    assert longest[-1] == MAX_BUSY_INTERVAL_S
    assert max_interval_s(MAX_BUSY_INTERVAL_S, 0.7) == MAX_BUSY_INTERVAL_S
    for _ in range(20):
        longest.append(max_interval_s(longest[-1], 0.3))
    assert longest[-1] == MAX_INTERVAL_S
    assert interval_s(10_000, 300_000, MAX_BUSY_INTERVAL_S) == MAX_BUSY_INTERVAL_S


async def test_streams_that_wait_are_woken_once_for_all_that_arrived():
    pace = Pace()
    woken: list[str] = []
    pace._interval_s = 0.05
    pace._last_tick = asyncio.get_running_loop().time()
    for name in "ab":
        pace.wake(partial(woken.append, name))
    assert woken == []
    await asyncio.sleep(0.2)
    assert woken == ["a", "b"]
    pace._interval_s = 0.0
    pace.wake(partial(woken.append, "c"))
    assert woken == ["a", "b", "c"]


class _Noted:
    """A polled stream that notes when it is read, and has the loop do something then."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    def poll(self) -> None:
        self._log.append("stream")
        asyncio.get_running_loop().call_soon(self._log.append, "other work")

    def end_polling(self) -> None:
        self._log.append("end")


def _polling(streams: int, log: list[str]) -> tuple[Pace, list[_Noted]]:
    """A pace that polls once a hundredth of a second, whatever comes."""
    pace = Pace()
    pace._interval_s, pace.polls, pace._counted_since = 0.01, True, float("inf")
    polled = [_Noted(log) for _ in range(streams)]
    for stream in polled:
        pace.add_polled(stream)
    return pace, polled


@pytest.mark.parametrize(
    ("longest_s", "streams_a_turn"),
    [(MAX_INTERVAL_S, STREAMS_A_TURN), (MAX_BUSY_INTERVAL_S, STREAMS_A_BUSY_TURN)],
)
async def test_other_work_has_its_turn_while_many_streams_are_woken(
    longest_s: float, streams_a_turn: int
) -> None:
    log: list[str] = []
    pace, polled = _polling(2 * STREAMS_A_BUSY_TURN, log)
    pace._max_interval_s = longest_s
    async with asyncio.timeout(10):
        while log.count("stream") < len(polled):
            await asyncio.sleep(0)
    for stream in polled:
        pace.remove_polled(stream)
    assert log[: streams_a_turn + 1] == ["stream"] * streams_a_turn + ["other work"]


async def test_streams_that_end_before_their_turn_are_not_read():
    log: list[str] = []
    pace, polled = _polling(20, log)
    async with asyncio.timeout(10):
        while not log:
            await asyncio.sleep(0)
    read = log.count("stream")
    for stream in polled:
        pace.remove_polled(stream)
    await asyncio.sleep(0.05)
    assert log.count("stream") == read < len(polled)


async def test_polling_goes_on_while_turns_take_longer_than_the_interval():
    log: list[str] = []
    pace, polled = _polling(20, log)
    pace._interval_s = 0.0
    async with asyncio.timeout(10):
        while log.count("stream") < 5 * len(polled):
            await asyncio.sleep(0)
    for stream in polled:
        pace.remove_polled(stream)


@pytest.fixture
async def upstream():
    server = SyntheticUpstream(Behaviour(rate=400.0))
    await server.start()
    yield server
    await server.stop()


async def _polled(origin: Origin, pace: Pace, tokens: int) -> Response:
    """An answer whose connection is read at the pace alone."""
    body = orjson.dumps({"messages": [{"role": "user", "content": "x"}], "max_tokens": tokens})
    response = await origin.request("POST", "/v1/chat/completions", body=body)
    pace._interval_s, pace.polls, pace._counted_since = 0.03, True, float("inf")
    response.set_pace(pace)
    return response


def _text(received: bytes) -> str:
    events = EventDecoder().feed(received)
    return "".join(decode_chunk(data).text for data in events if data != b"[DONE]")


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("http://127.0.0.1:9000", True),
        ("http://[::1]:9000", True),
        ("http://localhost:9000", True),
        ("http://10.1.2.3:9000", False),
        ("https://engine.example.org", False),
    ],
)
async def test_engines_of_this_machine_are_known_by_their_address(url, is_local):
    assert Origin(url).is_local is is_local


async def test_fast_stream_of_this_machine_takes_its_tokens_together(upstream):
    parts = await _parts_of_an_answer(upstream, Pace(FRAME_S))
    assert _text(b"".join(parts)) == words(0, 200)
    assert len(parts) < 100  # of 400 tokens a second, in 60 frames


@pytest.mark.parametrize(("tokens_per_s", "interval_s"), [(40, 0.0), (200, FRAME_S)])
async def test_only_a_stream_that_is_faster_than_a_display_waits_for_frames(
    tokens_per_s, interval_s
):
    pace = Pace(FRAME_S)
    pace.streams = 1
    began = pace._counted_since
    for number in range(1, tokens_per_s):
        pace.arrived(began + number / tokens_per_s)
    assert pace._interval_s == interval_s


@pytest.mark.parametrize(("is_local", "frames"), [(True, 1), (False, 0)])
async def test_only_streams_of_this_machine_wait_for_frames(upstream, is_local, frames):
    client, replica = UpstreamClient(), ReplicaConfig("a", upstream.url)
    client._origin(replica).is_local = is_local
    body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 20, "stream": True}
    stream = await client.open(replica, "/v1/chat/completions", body, request_id="r", usage_key="u")
    for _ in range(READS_AT_ONCE):
        assert await stream.chunks()
    assert (client._local_pace.streams, client._pace.streams) == (frames, 1 - frames)
    await stream.close()


async def test_first_parts_of_an_answer_do_not_wait_for_the_pace(upstream):
    upstream.behaviour.rate = 100.0
    client, replica = UpstreamClient(), ReplicaConfig("a", upstream.url)
    pace = client._local_pace
    pace.streams, pace._interval_s, pace._counted_since = 1, 30.0, float("inf")  # others' pace
    pace._last_tick = asyncio.get_running_loop().time()
    body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 40, "stream": True}
    stream = await client.open(replica, "/v1/chat/completions", body, request_id="r", usage_key="u")
    async with asyncio.timeout(10):
        for _ in range(READS_AT_ONCE):
            assert await stream.chunks()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await stream.chunks()
    await stream.close()


async def _parts_of_an_answer(upstream, pace: Pace, tokens: int = 200) -> list[bytes]:
    origin = Origin(upstream.url)
    body = orjson.dumps({"messages": [{"role": "user", "content": "x"}], "max_tokens": tokens})
    response = await origin.request("POST", "/v1/chat/completions", body=body)
    response.set_pace(pace)
    parts = [part async for part in _parts(response)]
    origin.close()
    return parts


async def test_polled_answers_are_read_whole_and_their_connection_serves_the_next(upstream):
    origin, pace = Origin(upstream.url), Pace()
    for _ in range(2):
        response = await _polled(origin, pace, 40)
        first = await response.read_some()
        parts = [part async for part in _parts(response)]
        assert _text(b"".join([first, *parts])) == words(0, 40)
        assert len(parts) < 20
        assert not pace._polled
    assert len(upstream._connections) == 1
    origin.close()


async def test_polled_answers_are_read_by_the_loop_again_when_chunks_come_slowly(upstream):
    origin, pace = Origin(upstream.url), Pace()
    response = await _polled(origin, pace, 200)
    first = await response.read_some()
    second = await response.read_some()
    assert pace._polled
    pace._counted_since = 0.0  # so few since then that each may have a wake of its own
    rest = [part async for part in _parts(response)]
    assert _text(b"".join([first, second, *rest])) == words(0, 200)
    assert not pace.polls
    origin.close()


async def test_polled_answers_whose_connection_breaks_are_unavailable(upstream):
    upstream.behaviour.break_after = 20
    origin, pace = Origin(upstream.url), Pace()
    response = await _polled(origin, pace, 40)
    with pytest.raises(ReplicaUnavailable):
        await asyncio.wait_for(response.read(), 10)
    assert not pace._polled
    assert pace.streams == 0
    origin.close()


async def _parts(response: Response) -> AsyncIterator[bytes]:
    while part := await asyncio.wait_for(response.read_some(), 10):
        yield part
