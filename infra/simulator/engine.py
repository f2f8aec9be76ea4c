"""The exact level's engine: the real `EngineCore`, with its scheduler and its cache manager, over a
model that computes nothing and says how long it would have taken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from inference.config import EngineConfig, SchedulerConfig
from inference.core import (
    BlockCopies,
    Chunk,
    FinishReason,
    Sampled,
    SamplingParams,
    StepResult,
    WindowedBlocks,
)
from inference.engine.engine_core import EngineCore
from inference.protocol import AddRequest, SequenceOutput
from infra.simulator import virtual_time
from infra.simulator.host import Host
from infra.simulator.step_times import StepTimes

BLOCK_SIZE = 16
_MAX_MODEL_LEN = 131_072


class EngineGoneError(Exception):
    """The engine broke while it answered, or refused the connection."""


@dataclass(eq=False, slots=True)
class Answer:
    """One answer on its way. Its futures fail with EngineGoneError."""

    tokens: Sequence[int]
    first: asyncio.Future[None]
    done: asyncio.Future[None]
    produced: int = 0
    cached_tokens: int = 0


@dataclass
class _Model:
    """A `StepRunner`: gives each request the tokens of its answer, and counts the seconds."""

    times: StepTimes
    host: Host
    answers: dict[str, Answer]
    num_blocks: int
    max_model_len: int = _MAX_MODEL_LEN
    eos_token_ids: frozenset[int] = frozenset()
    vocab_size: int = 1 << 20
    embedding_size: int = 0
    is_encoder: bool = False
    window: int | None = None
    windowed: WindowedBlocks | None = None
    num_states: int = 0
    num_readouts: int = 0
    whole_images: bool = False
    seconds: float = field(default=0.0)
    """Of all steps so far, as slow as the machine was when each began."""
    work_s: float = 0.0
    """Of the last step, were nothing else on the machine."""
    prompts: float = 0.0
    """The part of it that was of prompts."""

    def adapter_key(self, adapter_id: int) -> str:
        return ""

    def execute(self, chunks: list[Chunk]) -> list[StepResult]:
        self._measure(chunks)
        self.seconds += self.work_s * self.host.slowdown(self.prompts, more=1)
        return [
            [Sampled(self._next(chunk.request.request_id, chunk.request.num_output_tokens))]
            if chunk.samples
            else None
            for chunk in chunks
        ]

    def readouts(self, block_ids: Sequence[int], begin: int, end: int) -> bytes:
        return b""

    def copy_blocks(self, copies: BlockCopies) -> None:
        pass

    def checksums(self, block_ids: Sequence[int], group: int = 0) -> list[int]:
        return [0] * len(block_ids)

    def _next(self, request_id: str, position: int) -> int:
        tokens = self.answers[request_id].tokens
        return tokens[min(position, len(tokens) - 1)]

    def _measure(self, chunks: Sequence[Chunk]) -> None:
        decoding = [chunk for chunk in chunks if chunk.is_decode]
        context = sum(chunk.start for chunk in decoding)
        decode_s = float(self.times.decode_s(len(decoding), context))
        prompts_s = sum(
            float(self.times.prefill_s(chunk.num_tokens, chunk.start, beside=len(decoding)))
            for chunk in chunks
            if not chunk.is_decode
        )
        self.work_s = decode_s + prompts_s
        self.prompts = prompts_s / self.work_s


class SimulatedEngine:
    """One replica. Start `run()` as a task."""

    def __init__(
        self,
        name: str,
        times: StepTimes,
        scheduler: SchedulerConfig,
        *,
        num_blocks: int,
        host: Host,
    ) -> None:
        self.name = name
        self.is_up = True
        self.fails = False
        """It answers probes, and no generation."""
        self.busy_s = 0.0
        self._times = times
        self._scheduler = scheduler
        self._num_blocks = num_blocks
        self._host = host
        self._wake = asyncio.Event()
        self._server = asyncio.Lock()  # in the order of steps
        self._sending: set[asyncio.Task[None]] = set()
        self._answers: dict[str, Answer] = {}
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._answers = {}
        self._model = _Model(self._times, self._host, self._answers, self._num_blocks)
        config = EngineConfig(model="simulated", block_size=BLOCK_SIZE, scheduler=self._scheduler)
        self.core = EngineCore(
            config, self._model, clock=virtual_time.now, timer=lambda: self._model.seconds
        )

    def ask(
        self, request_id: str, prompt: list[int], answer: Sequence[int], priority: int, salt: str
    ) -> Answer:
        """Queue a request. Raises EngineGoneError."""
        if not self.is_up:
            raise EngineGoneError(self.name)
        loop = asyncio.get_running_loop()
        answered = Answer(answer, loop.create_future(), loop.create_future())
        self._answers[request_id] = answered
        self.core.add(
            AddRequest(
                request_id=request_id,
                prompt_token_ids=prompt,
                sampling=SamplingParams(max_tokens=len(answer), ignore_eos=True),
                priority=priority,
                arrived_at=loop.time(),
                cache_salt=salt,
            )
        )
        self._wake.set()
        return answered

    def stop(self) -> None:
        """The process is gone: what runs there fails."""
        self.is_up = False
        for answer in self._answers.values():
            for future in (answer.first, answer.done):
                if not future.done():
                    future.set_exception(EngineGoneError(self.name))
                    future.exception()  # read here: there may be no waiter, which is no error

    def start(self) -> None:
        """It is back, with an empty cache."""
        self._begin_anew()
        self.is_up = True

    async def run(self) -> None:
        """Step after step, until it is cancelled."""
        while True:
            core, answers = self.core, self._answers
            if not core.scheduler.has_work:
                self._wake.clear()
                await self._wake.wait()
                continue
            began, before = virtual_time.now(), self._model.seconds
            outputs = core.step()
            if self._model.seconds > before:
                await self._host.compute(self._model.work_s, self._model.prompts)
            else:
                await asyncio.sleep(0)
            self.busy_s += virtual_time.now() - began
            if outputs and self._times.token_s:
                task = asyncio.create_task(self._send(outputs, answers))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)
            else:
                _deliver(outputs, answers)

    async def _send(self, outputs: list[SequenceOutput], answers: dict[str, Answer]) -> None:
        """The server's and the client's part, on the same machine beside the next step."""
        async with self._server:
            tokens = sum(len(output.new_token_ids) for output in outputs)
            await self._host.compute(tokens * self._times.token_s)
            _deliver(outputs, answers)


def _deliver(outputs: list[SequenceOutput], answers: dict[str, Answer]) -> None:
    for output in outputs:
        answer = answers[output.request_id]
        answer.produced += len(output.new_token_ids)
        answer.cached_tokens = output.cached_tokens or answer.cached_tokens
        if answer.first.done():
            pass
        elif output.new_token_ids:
            answer.first.set_result(None)
        if output.finish_reason is not None:
            assert output.finish_reason is FinishReason.LENGTH
            del answers[output.request_id]
            if not answer.done.done():
                answer.done.set_result(None)
