"""The engine core: schedule, compute, report; one step at a time.

It knows neither text nor HTTP, and gets its model as a `StepRunner`, so tests drive it
with small models and `core_main.py` with the real one.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from inference.cache.kv_cache_manager import KVCacheManager
from inference.config import EngineConfig
from inference.core import (
    Chunk,
    FinishReason,
    Request,
    Sampled,
    SamplingParams,
    StepResult,
    StepRunner,
)
from inference.engine.progress import StepProgress
from inference.errors import ContextLengthError, EngineBrokenError, InvalidRequestError
from inference.protocol import AddRequest, CoreStats, SequenceOutput
from inference.scheduler.scheduler import Scheduler
from inference.speculation.speculator import Proposer, Speculator

log = logging.getLogger(__name__)


class PrefixKeeper(Protocol):
    """Keeps computed prefixes outside the engine."""

    def keep(self, request: Request) -> None:
        """Have what the request has computed kept; its blocks are still its own."""
        ...


_MIN_MEASURED_TOKENS = 16
"""Of a step, from which on its time tells what a recomputed token costs."""
_PATCH_PIXELS = 14 * 14
MAX_FAILED_STEPS = 12
"""In a row, before the core checks whether the device still computes anything."""


class EngineCore:
    def __init__(
        self,
        config: EngineConfig,
        runner: StepRunner,
        proposers: Sequence[Proposer] = (),
        clock: Callable[[], float] = time.monotonic,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        """
        Args:
            timer: what steps and copies take is measured by; the simulator has its own.
        """
        self._timer = timer
        self.runner = runner
        self.kv = KVCacheManager(
            runner.num_blocks,
            config.block_size,
            prefix_cache=config.prefix_cache,
            checksums=runner.checksums if config.kv_checksums else None,
            swap_blocks=config.swap_blocks,
            window=runner.window,
            windowed=runner.windowed,
            num_states=runner.num_states,
        )
        self.scheduler = Scheduler(
            config.scheduler,
            self.kv,
            whole_prompts=runner.is_encoder,
            whole_images=runner.whole_images,
        )
        if runner.num_states:
            proposers = ()  # a state cannot go back to before a draft token that was wrong
        self.speculator = Speculator(config.speculation, proposers, runner.max_model_len)
        self.progress = StepProgress()
        self.keeper: PrefixKeeper | None = None
        self._clock = clock
        self._steps = 0
        self._busy_s = 0.0
        self._failed_steps = 0
        self._failed_in_a_row = 0
        self._tokens_computed = 0
        self._step_tokens = 0

    def add(self, message: AddRequest) -> None:
        """Queue a request.

        Raises:
            ContextLengthError: when its prompt leaves no room for one more token.
            InvalidRequestError: when it is empty, or a token of it is not in the vocabulary.
            AdapterError: when its adapter is not loaded.
        """
        if not message.prompt_token_ids:
            raise InvalidRequestError("the prompt is empty")
        vocab_size = self.runner.vocab_size
        for token_id in message.prompt_token_ids:
            if not 0 <= token_id < vocab_size:
                raise InvalidRequestError(
                    f"token id {token_id} is not in the vocabulary of {vocab_size}"
                )
        if len(message.prompt_token_ids) >= self.runner.max_model_len:
            raise ContextLengthError(
                f"the prompt has {len(message.prompt_token_ids)} tokens, "
                f"the model's context {self.runner.max_model_len}"
            )
        adapter_key = self.runner.adapter_key(message.adapter_id) if message.adapter_id else ""
        self.scheduler.add(
            Request(
                request_id=message.request_id,
                prompt_token_ids=message.prompt_token_ids,
                sampling=message.sampling,
                priority=message.priority,
                arrived_at=message.arrived_at,
                cache_salt=message.cache_salt,
                public_tokens=message.public_tokens,
                may_be_kept=message.may_be_kept,
                deadline=message.deadline,
                wants_embedding=message.wants_embedding,
                wants_readouts=message.wants_readouts,
                images=message.images,
                adapter_id=message.adapter_id,
                adapter_key=adapter_key,
                predicted_token_ids=message.predicted_token_ids,
            )
        )

    def abort(self, request_ids: list[str]) -> None:
        """Forget requests and free their blocks; unknown ids are done already."""
        for request_id in request_ids:
            if request := self.scheduler.find(request_id):
                self.scheduler.finish(request)

    def step(self) -> list[SequenceOutput]:
        """Compute one step and return what each sequence got from it.

        A step that raises counts for nothing and is tried again in smaller parts, until
        the request that cannot be computed is found; that one fails, and no other.

        Raises:
            EngineBrokenError: when many steps in a row failed, and the simplest one does too.
        """
        outputs = self._end_expired()
        chunks = self.scheduler.schedule(self._drafts())
        if not chunks:
            return outputs
        self._note_first_runs(chunks)
        try:
            self._copy_blocks()
            began = self._timer()
            self.progress.begin(sum(_work(chunk) for chunk in chunks))
            try:
                results = self.runner.execute(chunks)
            finally:
                self.progress.end()
            seconds = self._timer() - began
        except EngineBrokenError:
            raise
        except Exception as error:  # whatever it is, it ends the request to blame and no other
            return outputs + self._fail(chunks, error)
        self._failed_in_a_row = 0
        self._count_step(chunks, seconds)
        outputs.extend(
            output
            for chunk, result in zip(chunks, results, strict=True)
            if (output := self._take_result(chunk, result)) is not None
        )
        return outputs

    def _note_first_runs(self, chunks: list[Chunk]) -> None:
        """How long those waited that run for the first time."""
        now = self._clock()
        for chunk in chunks:
            if chunk.request.waited_s is None:
                chunk.request.waited_s = max(0.0, now - chunk.request.arrived_at)

    def _count_step(self, chunks: list[Chunk], seconds: float) -> None:
        """A step worked: what it tells about costs, and the counters."""
        self.scheduler.limit.step_done()
        self.kv.remember_checksums()
        self._steps += 1
        self._busy_s += seconds
        self._step_tokens = sum(chunk.num_tokens for chunk in chunks)
        self._tokens_computed += self._step_tokens
        decode_tokens = sum(chunk.num_tokens for chunk in chunks if chunk.is_decode)
        prompt_tokens = self._step_tokens - decode_tokens
        self.scheduler.prefill_budget.step_done(decode_tokens, prompt_tokens, seconds)
        if self._step_tokens >= _MIN_MEASURED_TOKENS:
            self.kv.swap_costs.computed(self._step_tokens, seconds)

    def _take_result(self, chunk: Chunk, result: StepResult) -> SequenceOutput | None:
        """What a computed chunk gave its request; None while its prompt is not all computed."""
        if isinstance(result, list):
            return self._take_tokens(chunk, result)
        self.scheduler.complete(chunk)
        if result is None:
            return None
        self.scheduler.finish(chunk.request)
        return SequenceOutput(
            chunk.request.request_id, [], finish_reason=FinishReason.STOP, vector=result.vector
        )

    def stats(self) -> CoreStats:
        return CoreStats(
            running=self.scheduler.num_running,
            waiting=self.scheduler.num_waiting,
            blocks_total=self.kv.pool.total,
            blocks_used=self.kv.blocks_used,
            tokens_computed=self._tokens_computed,
            prefix_tokens_asked=self.kv.prefix_tokens_asked,
            prefix_tokens_hit=self.kv.prefix_tokens_hit,
            preemptions=self.scheduler.preemptions,
            swaps=self.scheduler.swaps,
            steps=self._steps,
            busy_s=self._busy_s,
            step_tokens=self._step_tokens,
            kv_waste=self.kv.waste(self.scheduler.running),
            batch_limit=self.scheduler.limit.tokens,
            failed_steps=self._failed_steps,
            checksum_mismatches=self.kv.checksum_mismatches,
            num_drafts=self.speculator.num_drafts,
            draft_tokens=self.speculator.draft_tokens,
            accepted_per_position=tuple(self.speculator.accepted_per_position),
        )

    def _take_tokens(self, chunk: Chunk, sampled: list[Sampled]) -> SequenceOutput:
        """Give a request its new tokens, up to the one that ends it."""
        request = chunk.request
        if chunk.draft:
            self.speculator.verified(request, len(chunk.draft), len(sampled) - 1)
        taken, reason = 0, None
        while reason is None and taken < len(sampled):
            taken += 1
            reason = self._finish_reason(request, sampled[taken - 1].token_id, taken)
        token_ids = [each.token_id for each in sampled[:taken]]
        self.scheduler.complete(chunk, token_ids)
        readouts = self._new_readouts(request) if request.wants_readouts else b""
        is_first = request.num_output_tokens == len(token_ids)
        if self.keeper is not None and request.may_be_kept and (is_first or reason is not None):
            self.keeper.keep(request)
        if reason is not None:
            self.scheduler.finish(request)
        logprobs = [each.logprobs for each in sampled[:taken] if each.logprobs]
        return SequenceOutput(
            request_id=request.request_id,
            new_token_ids=token_ids,
            logprobs=logprobs or None,
            finish_reason=reason,
            cached_tokens=request.cached_tokens,
            readouts=readouts,
            predicted=(request.predicted_right, request.predicted_wrong),
            waited_s=(request.waited_s or 0.0) if is_first else 0.0,
        )

    def _new_readouts(self, request: Request) -> bytes:
        """Those of the tokens computed since they were last given."""
        begin, request.readouts_given = request.readouts_given, request.num_computed
        return self.runner.readouts(request.block_ids, begin, request.num_computed)

    def _finish_reason(self, request: Request, token_id: int, new: int) -> FinishReason | None:
        """Whether a request ends with `token_id`, its `new`-th token of this step."""
        sampling = request.sampling
        if request.num_output_tokens + new >= sampling.min_tokens:
            if token_id in sampling.stop_token_ids:
                return FinishReason.STOP
            if token_id in self.runner.eos_token_ids and not sampling.ignore_eos:
                return FinishReason.STOP
        if request.num_output_tokens + new >= sampling.max_tokens:
            return FinishReason.LENGTH
        if request.num_tokens + new >= self.runner.max_model_len:
            return FinishReason.LENGTH
        return None

    def _copy_blocks(self) -> None:
        """Make the copies between cache and host memory that the step needs."""
        if not (copies := self.kv.swap_space.take_copies()):
            return
        began = self._timer()
        try:
            self.runner.copy_blocks(copies)
        except BaseException:
            # Whatever these hold now, it is not what was wanted.
            for _, block_id in copies.back:
                self.kv.pool.forget(block_id)
            self.scheduler.drop_swapped({host for _, host in copies.out})
            raise
        self.kv.swap_costs.copied(len(copies), self._timer() - began)

    def _drafts(self) -> dict[str, list[int]]:
        """Draft tokens for the next step; a draft model that fails is not asked again."""
        try:
            return self.speculator.drafts(self.scheduler.running)
        except Exception:
            log.exception("drafting failed and is switched off")
            self.speculator.switch_off()
            return {}

    def _end_expired(self) -> list[SequenceOutput]:
        """End what has passed its deadline, and refuse what waited too long to begin."""
        now = self._clock()
        outputs = []
        for request in self.scheduler.expired(now):
            late = request.deadline is not None and now >= request.deadline
            reason = FinishReason.TIMEOUT if late else FinishReason.QUEUE_TIMEOUT
            self.scheduler.finish(request)
            cached = request.cached_tokens
            outputs.append(
                SequenceOutput(request.request_id, [], finish_reason=reason, cached_tokens=cached)
            )
        return outputs

    def _fail(self, chunks: list[Chunk], error: Exception) -> list[SequenceOutput]:
        log.error("a step of %d requests failed", len(chunks), exc_info=error)
        self._failed_steps += 1
        self._failed_in_a_row += 1
        failing = self.scheduler.retry(chunks, out_of_memory=is_out_of_memory(error))
        if self._failed_in_a_row >= MAX_FAILED_STEPS:
            if not self._can_compute():
                raise EngineBrokenError(
                    f"{self._failed_in_a_row} steps in a row failed, the last with {error!r}"
                ) from error
            self._failed_in_a_row = 0  # the requests are to blame, one after another
        if failing is None:
            return []
        self.scheduler.finish(failing)
        return [
            SequenceOutput(
                failing.request_id,
                [],
                finish_reason=FinishReason.ERROR,
                error=f"{type(error).__name__}: {error}",
            )
        ]

    def _can_compute(self) -> bool:
        """Whether a step of one greedy token works: what fails then is the requests' own fault."""
        probe = Request("probe", [0], SamplingParams(max_tokens=1, temperature=0.0))
        if not self.kv.grow(probe, 1):
            return True  # all blocks are in use by requests that do run
        try:
            self.runner.execute([Chunk(probe, 0, 1)])
        except Exception as error:
            log.error("the probe failed too", exc_info=error)
            return False
        finally:
            self.kv.free(probe)
        return True


def _work(chunk: Chunk) -> int:
    """The tokens of a chunk, and those that the images count for which it may have to look at:
    a vision tower takes about as long for a patch as the layers do for a token."""
    end = chunk.start + chunk.num_tokens
    seen = (image for image in chunk.request.images if image.overlaps(chunk.start, end))
    return chunk.num_tokens + sum(image.num_pixels // _PATCH_PIXELS for image in seen)


def is_out_of_memory(error: Exception) -> bool:
    """Python's own error, torch's for GPUs (a RuntimeError), or its CPU allocator's message."""
    return (
        isinstance(error, MemoryError)
        or type(error).__name__ == "OutOfMemoryError"
        or "DefaultCPUAllocator: can't allocate memory" in str(error)
    )
