"""A door in front of the real Redis that can keep replies back: a slow network, exactly timed."""

import asyncio
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit


class RedisProxy:
    """Passes bytes both ways. `url` is the door, `held` is set once a reply is kept back."""

    def __init__(self, redis_url: str) -> None:
        self._target = urlsplit(redis_url)
        self._pattern: bytes | None = None
        self._released = asyncio.Event()
        self._clients: list[asyncio.StreamWriter] = []
        self._tasks: list[asyncio.Future[None]] = []
        self.held = asyncio.Event()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        login, at, _ = self._target.netloc.rpartition("@")
        self.url = urlunsplit(self._target._replace(netloc=f"{login}{at}127.0.0.1:{port}"))

    async def stop(self) -> None:
        self.release()
        self._server.close()
        for client in self._clients:
            client.close()
        await asyncio.gather(*self._tasks)

    def hold_replies_to(self, pattern: bytes) -> None:
        """From now on Redis carries out what contains `pattern`, and nobody hears of it."""
        self._pattern = pattern

    def release(self) -> None:
        """Everything passes again; what was kept back comes now."""
        self._pattern = None
        self._released.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._clients.append(writer)
        replies, commands = await asyncio.open_connection(self._target.hostname, self._target.port)
        held = asyncio.Event()
        back = asyncio.create_task(self._pass_back(replies, writer, held))
        self._tasks.append(back)
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                if self._pattern is not None and self._pattern in data:
                    held.set()
                commands.write(data)
        # A client that has gone cannot be told; what it asked for is carried out all the same.
        commands.close()
        await back

    async def _pass_back(
        self, replies: asyncio.StreamReader, writer: asyncio.StreamWriter, held: asyncio.Event
    ) -> None:
        with suppress(OSError):
            while data := await replies.read(1 << 16):
                if held.is_set() and not self._released.is_set():
                    self.held.set()
                    await self._released.wait()
                writer.write(data)
        writer.close()
