"""An asyncio event loop in simulated time: where nothing is ready, its clock jumps to the next
timer. So the gateway's own coroutines, futures and timeouts run as they are, a thousand times as
fast or slow as the machine allows; nothing may wait for a socket or a thread."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class NothingLeftError(RuntimeError):
    """Everybody waits, and no timer is set: what is simulated is deadlocked."""


class _Jumping(selectors.SelectSelector):
    """Instead of waiting, adds the wait to the clock."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise NothingLeftError("every task waits for another")
        self.now += max(0.0, timeout)
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    """`time()` begins at 0."""

    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.now


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """`asyncio.run` in simulated time. Tasks that are left are cancelled.

    Raises:
        NothingLeftError: `main` waits for what will never come.
    """
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(main)


def now() -> float:
    """The running loop's time, for what asks for a clock."""
    return asyncio.get_running_loop().time()
