"""The synthetic upstream in a thread, for tests whose product runs in other processes."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

from infra.load.upstream import Behaviour, Served, SyntheticUpstream
from infra.services.ports import free_port


class UpstreamThread:
    """Start, change `behaviour` at will, stop (which is like SIGKILL), start again."""

    def __init__(self, **behaviour: Any) -> None:
        self._upstream = SyntheticUpstream(Behaviour(**behaviour))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._port = free_port()
        self._listening = False

    @property
    def behaviour(self) -> Behaviour:
        return self._upstream.behaviour

    @property
    def served(self) -> list[Served]:
        return list(self._upstream.served)

    @property
    def url(self) -> str:
        return self._upstream.url

    def begin_anew(self, **behaviour: Any) -> None:
        """Running, with this behaviour, and nothing served yet."""
        self._upstream.behaviour = Behaviour(**behaviour)
        self._upstream.served.clear()
        if not self._listening:
            self.start()

    def start(self) -> None:
        """On the same port each time."""
        self._await(self._upstream.start(self._port))
        self._listening = True

    def stop(self) -> None:
        self._await(self._upstream.stop())
        self._listening = False

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _await(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)
