"""The least that any relay of token streams costs here: what comes is written on, and nothing else.

One connection to the upstream for each from a client, a read and a write for each token, on the
event loop that the web process uses. No HTTP is parsed, nothing is checked, counted or stored.
`make bench-gateway RELAY=1` prints what it costs a token beside what the product does.

    python -m infra.load.relay --port 9001 --upstream-port 9000
"""

import argparse
import asyncio
from typing import cast

import uvloop


class _ToClient(asyncio.Protocol):
    """The connection to the upstream: all that comes goes to the client."""

    def __init__(self, client: asyncio.Transport) -> None:
        self._client = client

    def data_received(self, data: bytes) -> None:
        self._client.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._client.close()


class _FromClient(asyncio.Protocol):
    """A client's connection. What is sent before the upstream is connected waits for it."""

    def __init__(self, upstream_port: int) -> None:
        self._upstream_port = upstream_port
        self._upstream: asyncio.Transport | None = None
        self._waiting: list[bytes] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._client = cast(asyncio.Transport, transport)
        self._connecting = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        self._upstream, _ = await asyncio.get_running_loop().create_connection(
            lambda: _ToClient(self._client), "127.0.0.1", self._upstream_port
        )
        self._upstream.writelines(self._waiting)

    def data_received(self, data: bytes) -> None:
        if self._upstream is None:
            self._waiting.append(data)
        else:
            self._upstream.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connecting.cancel()
        if self._upstream is not None:
            self._upstream.close()


async def _serve(port: int, upstream_port: int) -> None:
    server = await asyncio.get_running_loop().create_server(
        lambda: _FromClient(upstream_port), "127.0.0.1", port, backlog=4096
    )
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream-port", type=int, required=True)
    arguments = parser.parse_args()
    uvloop.run(_serve(arguments.port, arguments.upstream_port))


if __name__ == "__main__":
    main()
