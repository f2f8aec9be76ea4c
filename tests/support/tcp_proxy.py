"""The network between two processes: it can stop carrying bytes, or carry them late."""

import asyncio
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from infra.services.ports import LOOPBACK


class TcpProxy:
    """Carries bytes between `url` and a port of this machine, from a thread of its own."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._connected = asyncio.Event()
        self._connected.set()
        self._late_s = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._await(self._start())

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    def lead_to(self, port: int) -> None:
        """Who connects from now on is at another port of this machine."""
        self._target = port

    def partition(self) -> None:
        """Nothing arrives any more, and nobody is told: connections stay open, new ones too."""
        self._call(self._connected.clear)

    def slow(self, seconds: float) -> None:
        """What the server says arrives so much later each time."""
        self._late_s = seconds

    def heal(self) -> None:
        """Everything arrives again, also what was under way."""
        self._late_s = 0.0
        self._call(self._connected.set)

    def cut(self) -> None:
        """Every connection breaks; who connects anew gets one."""
        self._await(self._end_connections())

    def close(self) -> None:
        """Every connection breaks, and there are none any more."""
        self._await(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        await self._end_connections()

    async def _end_connections(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            answers, requests = await asyncio.open_connection(LOOPBACK, self._target)
        except OSError:
            writer.close()
            return
        try:
            # Where either side has ended its connection, the other's ends too.
            await asyncio.wait(
                [
                    asyncio.create_task(self._carry(reader, requests, is_answer=False)),
                    asyncio.create_task(self._carry(answers, writer, is_answer=True)),
                ],
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            writer.close()
            requests.close()

    async def _carry(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        with suppress(OSError):
            while data := await source.read(1 << 16):
                if is_answer and self._late_s:
                    await asyncio.sleep(self._late_s)
                await self._connected.wait()
                sink.write(data)
                await sink.drain()

    def _call(self, function: Any) -> None:
        self._loop.call_soon_threadsafe(function)

    def _await(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)
