"""What the pace makes of streams that come at an even rate, by a clock that the test turns."""

import heapq
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from backend.generation.pools.pace import FRAME_S, MAX_INTERVAL_S, MAX_WAKES_PER_S, Pace

_SETTLED_S = 2.0
_RATE = 30.0


class _Clock:
    """An event loop's timers, in order and without waiting."""

    def __init__(self) -> None:
        self._now = 0.0
        self._numbers = count()
        self._timers: list[tuple[float, int, Callable[..., Any], tuple[Any, ...]]] = []

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, work: Callable[..., Any], *arguments: Any) -> object:
        heapq.heappush(self._timers, (max(when, self._now), next(self._numbers), work, arguments))
        return work

    def call_soon(self, work: Callable[..., Any], *arguments: Any) -> object:
        return self.call_at(self._now, work, *arguments)

    def run_until(self, end: float) -> None:
        while self._timers and self._timers[0][0] <= end:
            self._now, _, work, arguments = heapq.heappop(self._timers)
            work(*arguments)
        self._now = end


class _Stream:
    """A connection with an even flow of chunks, read as `Response` reads it."""

    def __init__(self, clock: _Clock, pace: Pace, begins: float) -> None:
        self._clock, self._pace = clock, pace
        self._is_due = self._is_polled = False
        self._unread = 0
        self.wakes = self.chunks = 0
        pace.streams += 1
        clock.call_at(begins, self._chunk)

    def _chunk(self) -> None:
        self._clock.call_at(self._clock.time() + 1 / _RATE, self._chunk)
        self._unread += 1
        if not self._is_polled:
            self._read()
            if not self._is_due:
                self._is_due = True
                self._pace.wake(self._wake)
            if self._pace.polls:
                self._is_polled = True
                self._pace.add_polled(self)

    def _read(self) -> None:
        for _ in range(self._unread):
            self._pace.arrived(self._clock.time())
        self.chunks, self._unread = self.chunks + self._unread, 0

    def _wake(self) -> None:
        self._is_due = False
        self.wakes += 1

    def poll(self) -> None:
        had = self._unread
        self._read()
        self.wakes += bool(had)

    def end_polling(self) -> None:
        self._is_polled = False
        self._read()


async def _run(streams: int, frame_s: float) -> tuple[list[float], float, float]:
    """The intervals of four seconds, the wakes of one, and the chunks of a wake."""
    clock, pace = _Clock(), Pace(frame_s)
    pace._loop = clock  # type: ignore[assignment]
    pace._counted_since = 0.0
    flow = [_Stream(clock, pace, index / 20 % (1 / _RATE)) for index in range(streams)]
    clock.run_until(_SETTLED_S)
    intervals = []
    before = sum(one.wakes for one in flow), sum(one.chunks for one in flow)
    for step in range(400):
        clock.run_until(_SETTLED_S + (step + 1) / 100)
        intervals.append(pace._interval_s)
    wakes, chunks = sum(one.wakes for one in flow) - before[0], sum(one.chunks for one in flow)
    return intervals, wakes / 4, (chunks - before[1]) / wakes


@pytest.mark.parametrize("frame_s", [0.0, FRAME_S])
@pytest.mark.parametrize("streams", [100, 110, 300, 500])
async def test_even_streams_keep_their_pace(streams: int, frame_s: float) -> None:
    intervals, wakes_per_s, chunks_a_wake = await _run(streams, frame_s)
    wanted = min(MAX_INTERVAL_S, streams / MAX_WAKES_PER_S)
    assert set(intervals) == {wanted}
    assert wakes_per_s == pytest.approx(streams / wanted, rel=0.05)
    assert chunks_a_wake == pytest.approx(wanted * _RATE, rel=0.05)


@pytest.mark.parametrize("frame_s", [0.0, FRAME_S])
async def test_few_streams_keep_a_wake_for_each_chunk(frame_s: float) -> None:
    intervals, wakes_per_s, chunks_a_wake = await _run(40, frame_s)
    assert set(intervals) == {0.0}
    assert wakes_per_s == pytest.approx(40 * _RATE, rel=0.02)
    assert chunks_a_wake == pytest.approx(1.0)
