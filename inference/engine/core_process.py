"""One life of the engine core process, seen from the server: start, messages, end."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
import zmq
import zmq.asyncio

from inference.config import EngineConfig
from inference.engine.watchdog import Watchdog, frozen_loading
from inference.protocol import (
    CoreBeat,
    CoreFailed,
    CoreReady,
    CoreStart,
    FromCore,
    Shutdown,
    StepReport,
    ToCore,
)

log = logging.getLogger(__name__)

_GRACE_S = 10.0
_SPIN_COUNT = "1000"
"""How long OpenMP threads spin at a barrier (some 25 microseconds) before they sleep. The
runtime's own default is milliseconds, which on a busy machine is time taken from the very
thread that is waited for: decoding was measured six times slower with it."""


class CoreProcess:
    """A started process with sockets of its own, so that a next life shares nothing."""

    def __init__(
        self,
        process: Process,
        push: zmq.Socket[bytes],
        pull: zmq.asyncio.Socket,
        max_load_silence_s: float,
    ):
        self._process = process
        self._max_load_silence_s = max_load_silence_s
        self._push = push
        self._pull = pull
        self._last_words: str | None = None
        self._watchdog = Watchdog(process.pid)

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        config: EngineConfig,
        context: zmq.asyncio.Context,
        address: str,
    ) -> CoreProcess:
        """Start the process, with sockets named after `address`; `run` tells when it is ready."""
        # Of an asyncio socket, what is sent is a future: of a message that was dropped, one whose
        # error nobody takes.
        push = zmq.Context[zmq.Socket[bytes]].shadow(context).socket(zmq.PUSH)
        pull = context.socket(zmq.PULL)
        push.setsockopt(zmq.SNDHWM, 0)  # admission bounds the queue; an abort is never dropped
        inbox, outbox = f"{address}-inbox", f"{address}-outbox"
        push.bind(inbox)
        pull.bind(outbox)
        started_at = time.monotonic()
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=PIPE,
                env={"GOMP_SPINCOUNT": _SPIN_COUNT, **os.environ},
            )
        except BaseException:
            push.close(linger=0)
            pull.close(linger=0)
            raise
        assert process.stdin is not None
        start = CoreStart(config, inbox, outbox, started_at)
        process.stdin.write(msgspec.json.encode(start))
        process.stdin.close()
        return cls(process, push, pull, config.max_load_silence_s)

    def send(self, message: ToCore) -> bool:
        """Queue a message; returns whether there is a process that listens. One to a process that
        is gone, or does not listen yet, is dropped."""
        if self._push.closed:
            return False
        try:
            self._push.send(msgspec.msgpack.encode(message), zmq.NOBLOCK)
        except zmq.ZMQError:
            return False
        return True

    async def run(
        self, on_ready: Callable[[CoreReady], None], on_report: Callable[[StepReport], None]
    ) -> str:
        """Hand out what the core says until it ends; returns why it did.

        A core that has stalled is killed, and so is one whose messages cannot be handled: what it
        computes would reach no one.
        """
        ready = asyncio.Event()
        receiving = asyncio.create_task(self._receive(ready, on_ready, on_report))
        exited = asyncio.create_task(self._process.wait())
        stalled = asyncio.create_task(self._stalled(ready))
        tasks = receiving, exited, stalled
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not exited.done():
                self._process.kill()
            status = await exited
            await asyncio.sleep(0.05)  # its last words may still be on their way
        finally:
            for task in tasks:
                task.cancel()
            failure, _, stall = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(failure, Exception):
            log.error("the engine core was killed", exc_info=failure)
            return f"a message of the engine core could not be handled: {failure!r}"
        if isinstance(stall, str):
            return f"{stall}, and was killed"
        return self._last_words or f"the engine core ended with status {status}"

    async def stop(self) -> None:
        """End the process, at once if it does not end by itself."""
        if self._process.returncode is not None:
            return
        if self.send(Shutdown()):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), _GRACE_S)
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    def close(self) -> None:
        self._push.close(linger=0)
        self._pull.close(linger=0)

    async def _stalled(self, ready: asyncio.Event) -> str:
        """Loading a model takes what it takes, as long as it goes on. A rank among several waits
        for others, perhaps on other machines, and may do nothing meanwhile."""
        if "RANK" not in os.environ:
            frozen = await frozen_loading(self._process.pid, self._max_load_silence_s, ready)
            if frozen:
                return frozen
        await ready.wait()
        return await self._watchdog.stalled()

    async def _receive(
        self,
        ready: asyncio.Event,
        on_ready: Callable[[CoreReady], None],
        on_report: Callable[[StepReport], None],
    ) -> None:
        decode = msgspec.msgpack.Decoder(FromCore).decode
        while True:
            message = decode(await self._pull.recv())
            self._watchdog.message()
            if isinstance(message, StepReport):
                on_report(message)
            elif isinstance(message, CoreBeat):
                self._watchdog.beat(message)
            elif isinstance(message, CoreReady):
                ready.set()
                on_ready(message)
            elif isinstance(message, CoreFailed):
                self._last_words = message.message
