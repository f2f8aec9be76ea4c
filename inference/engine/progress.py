"""Whether the core makes progress: what a step may take, and the beat that tells the server.

A core that is frozen sends no beat. One whose step does not end (a device that hangs, a kernel that
deadlocks) still does, from a thread of its own, and says for how long the step has run and how
long it may: by what earlier steps have taken for their tokens, so that a long prefill is no hang.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec
import zmq

from inference.protocol import CoreBeat

BEAT_S = 0.5
MIN_STEP_S = 5.0
"""Any step may take so long, also one of a few tokens beside a busy neighbour."""
FIRST_STEPS_S = 120.0
"""Until one has shown what a prompt's token costs: kernels are compiled, memory is touched."""
_TIMES_SLOWEST = 10.0
"""A step may take so many times longer than the slowest of its kind so far: contexts grow."""
_MANY_TOKENS = 16
"""From so many on a step's time goes with its tokens; below, with the weights that are read."""


class StepProgress:
    """The step that is computed now, and what those before it took."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began: float | None = None
        self._tokens = 0
        self._small_s = 0.0  # the slowest step of few tokens
        self._token_s = 0.0  # of a token, in the slowest step of many

    def begin(self, tokens: int) -> None:
        self._tokens = tokens
        self._began = self._clock()

    def end(self) -> None:
        """Also of a step that failed; nothing where none has begun."""
        if self._began is None:
            return
        seconds = self._clock() - self._began
        self._began = None
        if self._tokens < _MANY_TOKENS:
            self._small_s = max(self._small_s, seconds)
        else:
            self._token_s = max(self._token_s, seconds / self._tokens)

    def beat(self) -> CoreBeat:
        """How long the step has run, 0 where there is none, and how long it may."""
        began = self._began
        return CoreBeat(self._clock() - began if began is not None else 0.0, self._allowed_s())

    def _allowed_s(self) -> float:
        if not self._token_s:
            return FIRST_STEPS_S
        few = self._tokens < _MANY_TOKENS
        slowest_s = self._small_s if few else self._token_s * self._tokens
        return max(MIN_STEP_S, _TIMES_SLOWEST * slowest_s)


class Heartbeat:
    """Sends a beat to `address` every half second, from a thread with a socket of its own."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str) -> None:
        self._context = context
        self._address = address
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, progress: StepProgress) -> None:
        self._thread = threading.Thread(
            target=self._run, args=(progress,), name="heartbeat", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, progress: StepProgress) -> None:
        with self._context.socket(zmq.PUSH) as outbox:
            outbox.linger = 0
            outbox.connect(self._address)
            while not self._ended.wait(BEAT_S):
                outbox.send(msgspec.msgpack.encode(progress.beat()))
