"""The server's side of the engine core: sends requests, hands out results, keeps it alive.

One `EngineClient` lives in the server's event loop. Each sequence is an async iterator;
leaving it early, for whatever reason, aborts the sequence in the core. When the core
process ends, everything that waited for it fails and a new one is started.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path

import zmq.asyncio

from inference.config import EngineConfig
from inference.core import FinishReason
from inference.engine.core_process import CoreProcess
from inference.errors import AdapterError, EngineDeadError, QueueTimeoutError, StepFailedError
from inference.protocol import (
    AbortRequests,
    AddRequest,
    CoreReady,
    CoreStats,
    LoadAdapter,
    SequenceOutput,
    StepReport,
    UnloadAdapter,
)

log = logging.getLogger(__name__)

_RESTART_DELAY_S = (0.0, 1.0, 5.0, 30.0)
_STABLE_S = 60.0
"""A core that lived so long is restarted without delay again."""


class EngineClient:
    """Owns the core process. `on_step` is called with the counters after every step.

    `info` is what the core said when it was ready, and None while there is none that is.
    `on_step` may be set until then: the core starts before there is much else.
    """

    def __init__(
        self,
        config: EngineConfig,
        command: Sequence[str],
        on_step: Callable[[CoreStats], None] = lambda _: None,
    ) -> None:
        """`command` starts a core process, which reads its configuration from standard input."""
        self._config = config
        self._command = command
        self.on_step = on_step
        self._queues: dict[str, asyncio.Queue[SequenceOutput]] = {}
        self._unfinished: set[str] = set()
        self._loading: dict[int, asyncio.Future[None]] = {}
        self._folder = Path(tempfile.mkdtemp(prefix="parley-engine-"))  # mode 0700
        self._context = zmq.asyncio.Context()
        self._core: CoreProcess | None = None
        self._first_ready: asyncio.Future[None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._last_end = "the engine has not started yet"
        self.info: CoreReady | None = None
        self.restarts = 0

    @property
    def in_flight(self) -> int:
        """Sequences whose last output has not been taken by its reader."""
        return len(self._queues)

    @property
    def unfinished(self) -> int:
        """Sequences that the core computes or lets wait. One that is done holds no place there,
        however slowly its reader takes what came of it."""
        return len(self._unfinished)

    @property
    def is_alive(self) -> bool:
        return self.info is not None

    def begin(self) -> None:
        """Start the core process, which loads the model while the event loop goes on."""
        self._first_ready = asyncio.get_running_loop().create_future()
        self._keeping = asyncio.create_task(self._keep_alive())

    async def start(self) -> None:
        """Start the core process, unless it was begun, and wait until its model is loaded.

        Raises:
            EngineDeadError: when it ends before that; the message says why.
        """
        if self._first_ready is None:
            self.begin()
        assert self._first_ready is not None
        await self._first_ready

    async def stop(self) -> None:
        """End the core process and everything that waits for it."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)
        ready = self._first_ready
        if ready is not None and ready.done() and not ready.cancelled():
            ready.exception()  # who stops it may never have waited for it
        if self._core is not None:
            await self._core.stop()
            self._core.close()
        self._context.destroy(linger=0)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def generate(self, request: AddRequest) -> AsyncGenerator[SequenceOutput, None]:
        """Run one sequence and yield what each step gives it, the last with its reason.

        Closing the iterator before that aborts the sequence: its blocks are free again
        before the core's next step.

        Raises:
            EngineDeadError: the core process is gone.
            QueueTimeoutError: it waited as long as any may, and has not begun.
            StepFailedError: this sequence could not be computed.
        """
        core = self._core
        if core is None or self.info is None:
            raise EngineDeadError(self._last_end)
        queue: asyncio.Queue[SequenceOutput] = asyncio.Queue()
        self._queues[request.request_id] = queue
        self._unfinished.add(request.request_id)
        finished = False
        try:
            core.send(request)
            while not finished:
                output = await queue.get()
                finished = output.finish_reason is not None
                if output.finish_reason is FinishReason.QUEUE_TIMEOUT:
                    raise QueueTimeoutError(
                        "the request waited too long and has not begun", retry_after_s=5
                    )
                if output.finish_reason is FinishReason.ERROR:
                    gone = core is not self._core or self.info is None
                    error = EngineDeadError if gone else StepFailedError
                    raise error(output.error or "the engine failed")
                yield output
        finally:
            self._queues.pop(request.request_id, None)
            self._unfinished.discard(request.request_id)
            if not finished:
                core.send(AbortRequests([request.request_id]))

    async def load_adapter(self, adapter_id: int, path: str) -> None:
        """Have the core read an adapter, which requests may name from then on.

        Raises:
            AdapterError: it cannot be used; the message says why.
            EngineDeadError: the core process is gone.
        """
        if self._core is None or self.info is None:
            raise EngineDeadError(self._last_end)
        loading: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._loading[adapter_id] = loading
        try:
            self._core.send(LoadAdapter(adapter_id, path))
            await loading
        finally:
            del self._loading[adapter_id]

    def unload_adapter(self, adapter_id: int) -> None:
        """Have the core free an adapter that no request has any more."""
        if self._core is not None:
            self._core.send(UnloadAdapter(adapter_id))

    async def _keep_alive(self) -> None:
        """Start one core after another, until stopped or the first one cannot start."""
        failures = 0
        while True:
            began = time.monotonic()
            self._last_end = await self._live()
            self.info = None
            self._fail_all()
            assert self._first_ready is not None
            if not self._first_ready.done():
                self._first_ready.set_exception(EngineDeadError(self._last_end))
                return
            failures = 0 if time.monotonic() - began > _STABLE_S else failures + 1
            delay = _RESTART_DELAY_S[min(failures, len(_RESTART_DELAY_S)) - 1] if failures else 0.0
            log.error("%s; starting it again in %g s", self._last_end, delay)
            await asyncio.sleep(delay)
            self.restarts += 1

    async def _live(self) -> str:
        """Start a core and serve it until it ends; returns why it did."""
        address = f"ipc://{self._folder}/{self.restarts}"
        try:
            core = await CoreProcess.start(self._command, self._config, self._context, address)
        except OSError as error:
            return f"the engine core could not be started: {error}"
        self._core = core
        end = await core.run(self._became_ready, self._take_report)
        core.close()
        return end

    def _became_ready(self, info: CoreReady) -> None:
        self.info = info
        if self._first_ready is not None and not self._first_ready.done():
            self._first_ready.set_result(None)

    def _take_report(self, report: StepReport) -> None:
        for output in report.outputs:
            if output.finish_reason is not None:
                self._unfinished.discard(output.request_id)
            if queue := self._queues.get(output.request_id):
                queue.put_nowait(output)
        for loaded in report.adapters:
            if (loading := self._loading.get(loaded.adapter_id)) and not loading.done():
                if loaded.error is None:
                    loading.set_result(None)
                else:
                    loading.set_exception(AdapterError(loaded.error, param="lora_path"))
        self._count(report.stats)

    def _fail_all(self) -> None:
        self._unfinished.clear()
        for loading in self._loading.values():
            if not loading.done():
                loading.set_exception(EngineDeadError(self._last_end))
        for request_id, queue in self._queues.items():
            queue.put_nowait(
                SequenceOutput(
                    request_id, [], finish_reason=FinishReason.ERROR, error=self._last_end
                )
            )
        self._count(CoreStats())

    def _count(self, stats: CoreStats) -> None:
        """Hand the counters on. Figures that cannot be kept cost no answer and no restart."""
        try:
            self.on_step(stats)
        except Exception:
            log.exception("the core's counters were not taken over")
