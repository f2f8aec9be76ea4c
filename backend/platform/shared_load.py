"""Loads of one thing that are wanted at the same time are one load.

What a process remembers for seconds lapses for all its requests at once: without this each of them
would ask the database anew.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class SharedLoads(Generic[Key, Result]):
    """The loads that are under way in this process, by what they load."""

    def __init__(self) -> None:
        self._running: dict[Key, asyncio.Task[Result]] = {}

    async def get(self, key: Key, load: Callable[[], Awaitable[Result]]) -> Result:
        """The result of the load of `key` that is under way, else of `load`.

        A caller that is cancelled leaves the load to the others.
        """
        loop = asyncio.get_running_loop()
        task = self._running.get(key)
        if task is None or task.get_loop() is not loop:
            task = self._running[key] = loop.create_task(self._load(key, load))
            task.add_done_callback(_hear)
        return await asyncio.shield(task)

    def forget(self, key: Key) -> None:
        """After a change of `key`: who comes from now on does not get what was read before it."""
        self._running.pop(key, None)

    async def _load(self, key: Key, load: Callable[[], Awaitable[Result]]) -> Result:
        try:
            return await load()
        finally:
            if self._running.get(key) is asyncio.current_task():
                del self._running[key]


def _hear(task: asyncio.Task[Result]) -> None:
    """Nobody may be left to hear how it ended."""
    if not task.cancelled():
        task.exception()
