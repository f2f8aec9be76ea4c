"""A wire between gateway and engine that notes when each generation was asked for and answered.

It is a server on loopback that passes bytes both ways. What it counts are requests to generate, not
probes; the gateway is told its address in place of the engine's.
"""

import asyncio
import time
from contextlib import suppress

_ASKS = b"POST /v1/chat/completions "
_ANSWERS = b"HTTP/1.1 200 "


class Wire:
    """
    Attributes:
        url: where it listens, after `start`.
        asked: when each request to generate came, by `time.monotonic`.
        answered: when the first bytes of an answer to one came.
    """

    def __init__(self, engine_port: int) -> None:
        self._engine_port = engine_port
        self._passing: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self.asked: list[float] = []
        self.answered: list[float] = []
        self.url = ""

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        self._server.close()
        for asker in self._passing.values():
            asker.transport.abort()
        if self._passing:
            await asyncio.wait(self._passing)

    async def _connected(self, asks: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._passing[task] = answers
        try:
            await self._pass(asks, answers)
        finally:
            del self._passing[task]
            answers.close()

    async def _pass(self, asks: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        waiting: list[float] = []
        there: asyncio.StreamWriter | None = None

        async def back(come: asyncio.StreamReader) -> None:
            with suppress(ConnectionError):
                while data := await come.read(65_536):
                    if waiting and _ANSWERS in data:
                        waiting.clear()
                        self.answered.append(time.monotonic())
                    answers.write(data)
                    await answers.drain()
            answers.close()

        returning: asyncio.Task[None] | None = None
        try:
            # The request is noted before the engine is connected to: it may be gone.
            while data := await asks.read(65_536):
                if _ASKS in data:
                    waiting.append(time.monotonic())
                    self.asked.append(waiting[-1])
                if there is None:
                    come, there = await asyncio.open_connection("127.0.0.1", self._engine_port)
                    returning = asyncio.create_task(back(come))
                there.write(data)
                await there.drain()
        except ConnectionError:
            pass
        finally:
            if there is not None:
                there.close()
            if returning is not None:
                returning.cancel()
