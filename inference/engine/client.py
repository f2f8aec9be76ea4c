"""The server's side of the engine core: starts it, sends requests, hands out results.

One `EngineClient` lives in the server's event loop. Each sequence is an async iterator;
leaving it early, for whatever reason, aborts the sequence in the core.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import zmq
import zmq.asyncio

from inference.config import EngineConfig
from inference.engine.process import CoreStart
from inference.errors import EngineDeadError, StepFailedError
from inference.protocol import (
    AbortRequests,
    AddRequest,
    CoreFailed,
    CoreReady,
    CoreStats,
    FinishReason,
    FromCore,
    SequenceOutput,
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


class EngineClient:
    """Owns the core process. `on_step` is called with the counters after every step."""

    def __init__(self, config: EngineConfig, on_step: Callable[[CoreStats], None]) -> None:
        self._config = config
        self._on_step = on_step
        self._queues: dict[str, asyncio.Queue[SequenceOutput]] = {}
        self._process: Process | None = None
        self._ready: asyncio.Future[CoreReady] | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._folder = Path(tempfile.mkdtemp(prefix="parley-engine-"))  # mode 0700
        self._context = zmq.asyncio.Context()
        self._failure: str | None = None
        self.info: CoreReady | None = None

    @property
    def in_flight(self) -> int:
        return len(self._queues)

    @property
    def is_alive(self) -> bool:
        return self.info is not None and self._failure is None

    async def start(self) -> CoreReady:
        """Start the core process and wait until its model is loaded.

        Raises:
            EngineDeadError: when it ends before that; the message says why.
        """
        inbox, outbox = (f"ipc://{self._folder}/{name}" for name in ("inbox", "outbox"))
        self._push = self._context.socket(zmq.PUSH)
        self._push.bind(inbox)
        self._pull = self._context.socket(zmq.PULL)
        self._pull.bind(outbox)
        self._ready = asyncio.get_running_loop().create_future()
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "inference.engine.process"),
            stdin=PIPE,
            env={"GOMP_SPINCOUNT": _SPIN_COUNT, **os.environ},
        )
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(CoreStart(self._config, inbox, outbox)))
        self._process.stdin.close()
        self._tasks = [asyncio.create_task(self._receive()), asyncio.create_task(self._watch())]
        self.info = await self._ready
        return self.info

    async def stop(self) -> None:
        """End the core process, at once if it does not end by itself."""
        if self._process is not None and self._process.returncode is None:
            await self._send(Shutdown())
            try:
                await asyncio.wait_for(self._process.wait(), _GRACE_S)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        for task in self._tasks:
            task.cancel()
        self._context.destroy(linger=0)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def generate(self, request: AddRequest) -> AsyncGenerator[SequenceOutput, None]:
        """Run one sequence and yield what each step gives it, the last with its reason.

        Closing the iterator before that aborts the sequence: its blocks are free again
        before the core's next step.

        Raises:
            EngineDeadError: the core process is gone.
            StepFailedError: the step that computed this sequence failed.
        """
        if not self.is_alive:
            raise EngineDeadError(self._failure or "the engine has not started yet")
        queue: asyncio.Queue[SequenceOutput] = asyncio.Queue()
        self._queues[request.request_id] = queue
        finished = False
        try:
            await self._send(request)
            while not finished:
                output = await queue.get()
                finished = output.finish_reason is not None
                if output.finish_reason is FinishReason.ERROR:
                    error = EngineDeadError if self._failure else StepFailedError
                    raise error(output.error or "the engine failed")
                yield output
        finally:
            self._queues.pop(request.request_id, None)
            if not finished and self._failure is None:
                with suppress(zmq.ZMQError):
                    self._push.send(
                        msgspec.msgpack.encode(AbortRequests([request.request_id])), zmq.NOBLOCK
                    )

    async def _send(self, message: ToCore) -> None:
        await self._push.send(msgspec.msgpack.encode(message))

    async def _receive(self) -> None:
        decode = msgspec.msgpack.Decoder(FromCore).decode
        while True:
            message = decode(await self._pull.recv())
            if isinstance(message, StepReport):
                self._on_step(message.stats)
                for output in message.outputs:
                    if queue := self._queues.get(output.request_id):
                        queue.put_nowait(output)
            elif isinstance(message, CoreFailed):
                self._failure = message.message
            elif self._ready is not None and not self._ready.done():
                self._ready.set_result(message)

    async def _watch(self) -> None:
        """When the core process ends, fail everything that waits for it."""
        assert self._process is not None
        status = await self._process.wait()
        await asyncio.sleep(0.05)  # let its last message arrive
        self._failure = self._failure or f"the engine core ended with status {status}"
        log.error("%s", self._failure)
        if self._ready is not None and not self._ready.done():
            self._ready.set_exception(EngineDeadError(self._failure))
        for request_id, queue in self._queues.items():
            queue.put_nowait(
                SequenceOutput(
                    request_id, [], finish_reason=FinishReason.ERROR, error=self._failure
                )
            )
