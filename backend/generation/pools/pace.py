"""When streams take what has arrived: at once while a process has time, together when it has not.

To wake a stream, check what it says, store it and hand it on costs several times what a further
token costs in the same pass. So with many streams each is woken less often, and takes the
tokens that have come meanwhile in one event. docs/decisions/0170 has the figures.

An engine of this machine is slowed by each wake: it runs on the same processors. So streams of it
that are faster than a display are woken once in FRAME_S, be it one alone (0353).

Where a wake finds more than one chunk, their connections are read then too, and not when each chunk
arrives: a read costs the event loop and the kernel more than all that is parsed of it (0270).

Streams that are woken together have their turns one after the other, and between two turns the
event loop does what else there is: a request, an answer's first text. What chunks come is counted
when all have had their turn (0438).
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

FREE_CHUNKS_PER_S, FULL_CHUNKS_PER_S = 1_500, 2_500
"""Up to the one each chunk has a wake of its own; from the other on there are MAX_WAKES_PER_S."""
MAX_WAKES_PER_S = 600
"""Of all streams of the process; a wake costs it some 65 µs beside its tokens (0431)."""
MAX_INTERVAL_S = 0.2
"""However many streams there are, none waits longer for a token that has arrived,"""
MAX_BUSY_INTERVAL_S = 0.25
"""but where the event loop has no time left: there tokens would wait longer, in sockets (0292)."""
BUSY_FROM, FREE_BELOW = 0.8, 0.6
"""Shares of its time that the event loop works: from the one on waits grow, below the other they
shrink again."""
_STEP = 1.25
STREAMS_A_TURN, STREAMS_A_BUSY_TURN = 1, 20
"""A fifth of a millisecond of work each, and nothing else runs meanwhile. What runs together is
cheaper than the same in parts (0438), so more of them where the event loop has no time left."""
MIN_CHUNKS_A_READ = 1.5
"""From so many on, a connection is read once a wake."""
_RATE_OVER_S = 0.25
FRAME_S = 1 / 60
"""Between two wakes of streams of this machine's engine: what comes faster no display shows."""
_FRAME_RATE_OVER_S = 0.1
"""Instead of _RATE_OVER_S, where there are frames: an answer may be over by then."""


class PolledStream(Protocol):
    """A stream whose connection is read when the pace says so."""

    def poll(self) -> None:
        """Read what has arrived, and wake who waits for it."""

    def end_polling(self) -> None:
        """The event loop reads the connection again."""


class Pace:
    """The wakes of one process' streams.

    Args:
        frame_s: for streams of which more than one chunk comes in so many seconds, the least time
            between two wakes; 0 where none is to wait for that reason.

    Attributes:
        streams: that are read at this pace.
        polls: whether to read once a wake is cheaper now than to read each chunk.
    """

    def __init__(self, frame_s: float = 0.0) -> None:
        self._frame_s = frame_s
        self._rate_over_s = _FRAME_RATE_OVER_S if frame_s else _RATE_OVER_S
        self.streams = 0
        self.polls = False
        self._polled: dict[PolledStream, None] = {}
        self._loop = asyncio.get_running_loop()
        self._interval_s = 0.0
        self._chunks = 0
        self._counted_since = self._loop.time()
        self._worked_s = time.thread_time()
        self._max_interval_s = MAX_INTERVAL_S
        self._last_tick = 0.0
        self._waiting: list[Callable[[], None]] = []
        # Whose turn is still to come at this wake.
        self._woken: deque[Callable[[], None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def arrived(self, now: float) -> None:
        """Some stream's chunk has arrived, at `now` by the loop's clock."""
        self._chunks += 1
        # Else when a wake has read all streams: before, what waits in their connections is missing.
        if self._interval_s == 0.0 and now - self._counted_since >= self._rate_over_s:
            self._measure(now)

    def wake(self, stream: Callable[[], None]) -> None:
        """Call `stream` at once, or together with others soon."""
        if self._interval_s == 0.0 and self._timer is None:
            stream()
            return
        self._waiting.append(stream)
        self._start_timer()

    def add_polled(self, stream: PolledStream) -> None:
        """Poll `stream` at each wake, until it is removed or the pace ends that."""
        self._polled[stream] = None
        self._start_timer()

    def remove_polled(self, stream: PolledStream) -> None:
        self._polled.pop(stream, None)

    def _measure(self, now: float) -> None:
        rate = self._chunks / (now - self._counted_since)
        worked_s = time.thread_time()
        busy = (worked_s - self._worked_s) / (now - self._counted_since)
        self._chunks, self._counted_since, self._worked_s = 0, now, worked_s
        self._max_interval_s = max_interval_s(self._max_interval_s, busy)
        self._interval_s = interval_s(self.streams, rate, self._max_interval_s)
        if rate * self._frame_s > max(1, self.streams):
            self._interval_s = max(self._interval_s, self._frame_s)
        self.polls = rate * self._interval_s >= MIN_CHUNKS_A_READ * max(1, self.streams)

    def _start_timer(self) -> None:
        if self._timer is None and not self._woken:
            self._timer = self._loop.call_at(self._last_tick + self._interval_s, self._tick)

    def _tick(self) -> None:
        self._timer, self._last_tick = None, self._loop.time()
        self._woken.extend(self._waiting)
        self._waiting = []
        self._woken.extend(partial(self._poll, stream) for stream in self._polled)
        self._turn()

    def _poll(self, stream: PolledStream) -> None:
        if stream in self._polled:  # else it ended while others had their turn
            stream.poll()

    def _turn(self) -> None:
        is_busy = self._max_interval_s > MAX_INTERVAL_S
        size = min(STREAMS_A_BUSY_TURN if is_busy else STREAMS_A_TURN, len(self._woken))
        turn = [self._woken.popleft() for _ in range(size)]
        try:
            for wake in turn:
                wake()
        finally:
            if self._woken:
                self._loop.call_soon(self._turn)
            else:
                self._end_tick()

    def _end_tick(self) -> None:
        now = self._loop.time()
        if now - self._counted_since >= self._rate_over_s:
            self._measure(now)
        if not self.polls:
            polled, self._polled = self._polled, {}
            for stream in polled:
                stream.end_polling()
        if self._polled or self._waiting:
            self._start_timer()


def interval_s(streams: int, chunks_per_s: float, max_interval_s: float = MAX_INTERVAL_S) -> float:
    """Seconds between two wakes of a stream. 0 while each chunk may have a wake of its own."""
    pressure = (chunks_per_s - FREE_CHUNKS_PER_S) / (FULL_CHUNKS_PER_S - FREE_CHUNKS_PER_S)
    return min(max_interval_s, min(1.0, max(0.0, pressure)) * streams / MAX_WAKES_PER_S)


def max_interval_s(present: float, busy: float) -> float:
    """The longest interval from now on.

    Args:
        busy: which share of its time the event loop has worked lately.
    """
    if busy > BUSY_FROM:
        return min(MAX_BUSY_INTERVAL_S, present * _STEP)
    if busy < FREE_BELOW:
        return max(MAX_INTERVAL_S, present / _STEP)
    return present
