"""A gateway in a thread and an event loop of its own, which stops dead at any step of that loop.

To everybody else it is a process that was stopped by SIGSTOP and continued: its heart, its writer
and its requests stand still together, and what it had sent is carried out all the same.
"""

import asyncio
import selectors
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from backend.generation.gateway import Gateway
from backend.generation.pools.config import Pools
from backend.platform.cancellation import end_tasks
from tests.support.gateway import quick_settings

Result = TypeVar("Result")


class _StallingSelector(selectors.DefaultSelector):
    """Counts the steps of an event loop, which asks it once a step."""

    def __init__(self) -> None:
        super().__init__()
        self.steps_left = 0
        self.stalled = threading.Event()
        self.goes_on = threading.Event()

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(timeout)
        if self.steps_left:
            self.steps_left -= 1
            if not self.steps_left:
                self.stalled.set()
                self.goes_on.wait()
        return ready


class StallingProcess:
    """
    Attributes:
        gateway: its own; only what is passed to `run` may touch it.
    """

    gateway: Gateway

    def __init__(self) -> None:
        self._selector = _StallingSelector()
        self._loop = asyncio.SelectorEventLoop(self._selector)
        self._thread = threading.Thread(target=self._loop.run_forever)

    def run(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Begin `work` in its loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stall_in(self, steps: int) -> None:
        """Stop after so many steps from now."""
        self._selector.stalled.clear()
        self._selector.goes_on.clear()
        self._selector.steps_left = steps

    @property
    def is_stalled(self) -> bool:
        return self._selector.stalled.is_set() and not self._selector.goes_on.is_set()

    def go_on(self) -> None:
        self._selector.steps_left = 0
        self._selector.goes_on.set()

    async def start(self, pools: Pools, **settings: Any) -> None:
        self._thread.start()

        async def start() -> None:
            self.gateway = Gateway(quick_settings(**settings), pools)
            await self.gateway.start()

        await asyncio.wrap_future(self.run(start()))

    async def stop(self) -> None:
        self.go_on()

        async def stop() -> None:
            await self.gateway.stop()
            await end_tasks(asyncio.all_tasks() - {asyncio.current_task()})

        await asyncio.wrap_future(self.run(stop()))
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()


@contextmanager
def stalled_after(process: StallingProcess, steps: int) -> Iterator[None]:
    process.stall_in(steps)
    try:
        yield
    finally:
        process.go_on()
