"""Runs the gateway with the web server: started before the first request, drained at the end.

Each request finds it in its ASGI scope (`gateway_of`): nothing is global.
"""

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from types import FrameType
from typing import Any

import structlog

from backend.generation.gateway import Gateway, Loops

Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

log = structlog.get_logger(__name__)

_GATEWAY = "parley.gateway"


def with_gateway(
    application: Application, loops: Callable[[Gateway], Loops] = lambda gateway: {}
) -> Application:
    """`application` with a lifespan of its own: that of the gateway.

    Args:
        loops: what else runs beside requests, by name; given the gateway.
    Source: ASGI, "Lifespan protocol", version 2.0.
    """

    running: Gateway | None = None

    async def wrapped(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal running
        if scope["type"] == "lifespan":
            assert (await receive())["type"] == "lifespan.startup"
            running = Gateway()
            await _lifespan(running, loops(running), receive, send)
            running = None
        else:
            await application({**scope, _GATEWAY: running}, receive, send)

    return wrapped


def gateway_of(scope: Mapping[str, Any]) -> Gateway:
    """The gateway of the process that serves `scope`.

    Raises:
        GatewayNotRunning: the application is not wrapped in `with_gateway`, or the server does
            not run its lifespan.
    """
    gateway = scope.get(_GATEWAY)
    if not isinstance(gateway, Gateway):
        raise GatewayNotRunning(
            "No gateway runs in this process. Wrap the application in with_gateway, and let the"
            " server run its lifespan."
        )
    return gateway


class GatewayNotRunning(RuntimeError):
    """A request needs the gateway of a process that has not started one."""


async def _lifespan(gateway: Gateway, loops: Loops, receive: Receive, send: Send) -> None:
    try:
        await gateway.start(loops)
    except Exception as error:
        log.exception("gateway_not_started")
        await send({"type": "lifespan.startup.failed", "message": str(error)})
        return
    _drain_on_signals(gateway)
    # What is there now stays: looked through with each full collection, it would hold up the loop.
    gc.collect()
    gc.freeze()
    await send({"type": "lifespan.startup.complete"})
    assert (await receive())["type"] == "lifespan.shutdown"
    await gateway.stop()
    await send({"type": "lifespan.shutdown.complete"})


def _drain_on_signals(gateway: Gateway) -> None:
    """Begin to drain with the signal, before the server's own handler.

    The server waits for open responses before it ends the lifespan; without this, streams would
    hold it for as long as their generations run. SIGTERM lets them end for a while, SIGINT (a
    person at a terminal) hands them over at once.
    """
    loop = asyncio.get_running_loop()
    for number, wait_s in ((signal.SIGTERM, None), (signal.SIGINT, 0.0)):
        try:
            _chain(loop, gateway, number, wait_s)
        except ValueError:
            return  # not in the main thread (a test's server): what stops it drains it


def _chain(
    loop: asyncio.AbstractEventLoop, gateway: Gateway, number: int, wait_s: float | None
) -> None:
    before = signal.getsignal(number)

    def handle(received: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(gateway.begin_drain, wait_s)
        if callable(before):
            before(received, frame)

    signal.signal(number, handle)
