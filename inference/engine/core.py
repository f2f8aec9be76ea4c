"""The engine core: schedule, compute, report; one step at a time.

It knows neither text nor HTTP, and gets its model as a `StepRunner`, so tests drive it
with small models and `process.py` with the real one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

from inference.config import EngineConfig
from inference.engine.kv_cache_manager import KVCacheManager
from inference.engine.request import Request
from inference.engine.scheduler import Chunk, Scheduler
from inference.errors import ContextLengthError, InferenceError
from inference.protocol import (
    AddRequest,
    CoreStats,
    FinishReason,
    SequenceOutput,
    TokenLogprobs,
)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sampled:
    """The token chosen after a chunk, with its log probabilities where asked for."""

    token_id: int
    logprobs: TokenLogprobs | None = None


@dataclass(frozen=True)
class Pooled:
    """The vector of a whole prompt, as little-endian float32."""

    vector: bytes


class StepRunner(Protocol):
    """What computes a step: the model with its KV cache and the sampler."""

    max_model_len: int
    num_blocks: int
    eos_token_ids: frozenset[int]
    vocab_size: int
    embedding_size: int

    def execute(self, chunks: list[Chunk]) -> list[Sampled | Pooled | None]:
        """Compute all chunks; a result for each that `samples`, None for the others.

        It is `Pooled` for requests that pool, and `Sampled` for all others.
        """
        ...


class EngineCore:
    def __init__(self, config: EngineConfig, runner: StepRunner) -> None:
        self.runner = runner
        self.kv = KVCacheManager(
            runner.num_blocks, config.block_size, prefix_cache=config.prefix_cache
        )
        self.scheduler = Scheduler(config.scheduler, self.kv)
        self._steps = 0
        self._tokens_computed = 0
        self._step_tokens = 0

    def add(self, message: AddRequest) -> None:
        """Queue a request.

        Raises:
            ContextLengthError: when its prompt leaves no room for one more token.
        """
        if len(message.prompt_token_ids) >= self.runner.max_model_len:
            raise ContextLengthError(
                f"the prompt has {len(message.prompt_token_ids)} tokens, "
                f"the model's context {self.runner.max_model_len}"
            )
        self.scheduler.add(
            Request(
                request_id=message.request_id,
                prompt_token_ids=message.prompt_token_ids,
                sampling=message.sampling,
                priority=message.priority,
                arrived_at=message.arrived_at,
                cache_salt=message.cache_salt,
                pools=message.pools,
            )
        )

    def abort(self, request_ids: list[str]) -> None:
        """Forget requests and free their blocks; unknown ids are done already."""
        for request_id in request_ids:
            if request := self.scheduler.find(request_id):
                self.scheduler.finish(request)

    def step(self) -> list[SequenceOutput]:
        """Compute one step and return what each sequence got from it.

        A step that raises fails the requests that were in it and no others; their
        blocks are free again afterwards.
        """
        chunks = self.scheduler.schedule()
        if not chunks:
            return []
        try:
            sampled = self.runner.execute(chunks)
        except (RuntimeError, ValueError, MemoryError, InferenceError) as error:
            log.exception("a step of %d requests failed", len(chunks))
            return self._fail(chunks, error)
        self._steps += 1
        self._step_tokens = sum(chunk.num_tokens for chunk in chunks)
        self._tokens_computed += self._step_tokens
        outputs = []
        for chunk, result in zip(chunks, sampled, strict=True):
            token_id = result.token_id if isinstance(result, Sampled) else None
            self.scheduler.complete(chunk, token_id)
            if isinstance(result, Sampled):
                outputs.append(self._report(chunk.request, result))
            elif result is not None:
                self.scheduler.finish(chunk.request)
                outputs.append(
                    SequenceOutput(
                        chunk.request.request_id,
                        [],
                        finish_reason=FinishReason.STOP,
                        vector=result.vector,
                    )
                )
        return outputs

    def stats(self) -> CoreStats:
        pool = self.kv.pool
        held = sum(len(r.block_ids) for r in self.scheduler.running) * self.kv.block_size
        filled = sum(r.num_computed for r in self.scheduler.running)
        return CoreStats(
            running=self.scheduler.num_running,
            waiting=self.scheduler.num_waiting,
            blocks_total=pool.total,
            blocks_used=pool.num_used,
            tokens_computed=self._tokens_computed,
            prefix_tokens_asked=self.kv.prefix_tokens_asked,
            prefix_tokens_hit=self.kv.prefix_tokens_hit,
            preemptions=self.scheduler.preemptions,
            steps=self._steps,
            step_tokens=self._step_tokens,
            kv_waste=1 - filled / held if held else 0.0,
        )

    def _report(self, request: Request, result: Sampled) -> SequenceOutput:
        reason = self._finish_reason(request, result.token_id)
        if reason is not None:
            self.scheduler.finish(request)
        return SequenceOutput(
            request_id=request.request_id,
            new_token_ids=[result.token_id],
            logprobs=[result.logprobs] if result.logprobs else None,
            finish_reason=reason,
            cached_tokens=request.cached_tokens,
        )

    def _finish_reason(self, request: Request, token_id: int) -> FinishReason | None:
        sampling = request.sampling
        if request.num_output_tokens >= sampling.min_tokens:
            if token_id in sampling.stop_token_ids:
                return FinishReason.STOP
            if token_id in self.runner.eos_token_ids and not sampling.ignore_eos:
                return FinishReason.STOP
        if request.num_output_tokens >= sampling.max_tokens:
            return FinishReason.LENGTH
        if request.num_tokens >= self.runner.max_model_len:
            return FinishReason.LENGTH
        return None

    def _fail(self, chunks: list[Chunk], error: Exception) -> list[SequenceOutput]:
        outputs = []
        for chunk in chunks:
            self.kv.forget_uncomputed(chunk.request)
            self.scheduler.finish(chunk.request)
            outputs.append(
                SequenceOutput(
                    chunk.request.request_id,
                    [],
                    finish_reason=FinishReason.ERROR,
                    error=f"{type(error).__name__}: {error}",
                )
            )
        return outputs
