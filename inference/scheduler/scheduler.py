"""Which tokens are computed in the next step.

A step has one budget of tokens. Every request has tokens known and tokens computed; the
scheduler hands the difference out, decode requests first (one token each), then prompts
in chunks of whatever is left. Chunked prefill, prefix hits and recomputation after a
preemption all fall out of that one idea (it is vLLM V1's).

Waiting requests are ordered by a key that never changes while they wait, since waiting
makes all of them equally older: see `_queue_key`.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence

from inference.cache.kv_cache_manager import KVCacheManager, Prefix
from inference.config import SchedulerConfig
from inference.core import Chunk, Request, RequestStatus
from inference.scheduler.batch_limit import BatchLimit
from inference.scheduler.prefill_budget import PrefillBudget


class Scheduler:
    def __init__(
        self,
        config: SchedulerConfig,
        kv: KVCacheManager,
        *,
        whole_prompts: bool = False,
        whole_images: bool = False,
    ) -> None:
        """
        Args:
            whole_prompts: a prompt is computed in one step, as encoders need it.
            whole_images: so is an image, whatever the budget: its tokens attend to one another.
        """
        self._config = config
        self._whole_images = whole_images
        self._whole_prompts = whole_prompts
        self._kv = kv
        self._requests: dict[str, Request] = {}
        self._waiting: list[Request] = []
        self._running: list[Request] = []
        self._isolated: set[str] = set()
        """Requests of a step that failed; each is computed alone up to its last known token."""
        self.limit = BatchLimit(config.max_num_batched_tokens)
        self.prefill_budget = PrefillBudget(config.mixed_step_tokens, config.mixed_step_slowdown)
        self.preemptions = 0
        self.swaps = 0

    @property
    def num_waiting(self) -> int:
        return len(self._waiting)

    @property
    def num_running(self) -> int:
        return len(self._running)

    @property
    def running(self) -> tuple[Request, ...]:
        return tuple(self._running)

    @property
    def has_work(self) -> bool:
        return bool(self._requests)

    def add(self, request: Request) -> None:
        """Queue a request. The caller has checked that the pool can hold it alone."""
        if request.request_id in self._requests:
            raise ValueError(f"request {request.request_id} is here already")
        self._requests[request.request_id] = request
        insort(self._waiting, request, key=self._queue_key)

    def finish(self, request: Request) -> None:
        """Forget a request and free its blocks."""
        del self._requests[request.request_id]
        self._isolated.discard(request.request_id)
        self._leave_queue(request)
        self._kv.free(request)
        self._kv.drop_swapped(request)
        request.status = RequestStatus.FINISHED

    def expired(self, now: float) -> list[Request]:
        """Requests whose deadline has passed, and those that waited too long to begin."""
        longest = self._config.max_wait_s
        return [
            request
            for request in self._requests.values()
            if (request.deadline is not None and now >= request.deadline)
            or (longest and not request.was_scheduled and now - request.arrived_at > longest)
        ]

    def drop_swapped(self, host_block_ids: set[int]) -> None:
        """These host blocks were never written: their owners recompute."""
        for request in self._waiting:
            if not host_block_ids.isdisjoint(request.host_block_ids):
                self._kv.drop_swapped(request)

    def find(self, request_id: str) -> Request | None:
        return self._requests.get(request_id)

    def schedule(self, drafts: Mapping[str, Sequence[int]] | None = None) -> list[Chunk]:
        """Hand out the next step's tokens and the blocks for them.

        Draft tokens of `drafts` (by request id) are computed along where budget and blocks
        are left over; no request is preempted or waits for them.
        Returns one chunk for each request that takes part; empty only when nothing
        waits or runs. Progress: of the running requests the first by queue key is never
        preempted for another, so it always moves on.
        """
        if self._isolated:
            return self._schedule_isolated()
        drafts = drafts or {}
        budget = self._budget(drafts)
        spare = budget - len(self._running)
        chunks: dict[str, Chunk] = {}
        preemptions_before = self.preemptions
        for request in sorted(self._running, key=lambda r: (_is_prefilling(r), self._queue_key(r))):
            if request.status is not RequestStatus.RUNNING or budget == 0:
                continue  # preempted for one before it, or nothing left to hand out
            num_tokens = self._up_to(request, request.num_computed, budget)
            draft = tuple(drafts.get(request.request_id, ())[: max(spare, 0)])
            if draft and not self._grow_for_draft(request, num_tokens + len(draft)):
                draft = ()
            while not self._kv.grow(request, num_tokens):
                victim = max(self._running, key=self._queue_key)
                self._preempt(victim)
                if dropped := chunks.pop(victim.request_id, None):
                    budget += dropped.num_tokens
                if victim is request:
                    break
            else:
                num_tokens += len(draft)
                spare -= len(draft)
                chunk = Chunk(request, request.num_computed, num_tokens, draft)
                chunks[request.request_id] = chunk
                budget = max(0, budget - num_tokens)
        if self.preemptions == preemptions_before:
            self._admit(budget, chunks)
        return list(chunks.values())

    def complete(self, chunk: Chunk, token_ids: Sequence[int] = ()) -> None:
        """Record that a chunk was computed, and the tokens chosen after it.

        All of them but the last are draft tokens of the chunk that were right, so their keys
        and values are computed too; those of wrong ones are written over later.
        """
        accepted = max(len(token_ids) - 1, 0)
        assert tuple(token_ids[:accepted]) == chunk.draft[:accepted]
        if chunk.samples:
            self._isolated.discard(chunk.request.request_id)
        chunk.request.num_computed = chunk.end + accepted
        chunk.request.token_ids.extend(token_ids)

    def retry(self, chunks: Sequence[Chunk], *, out_of_memory: bool) -> Request | None:
        """A step failed and nothing of it counts: its requests wait again.

        After running out of memory the next steps are smaller; after any other failure
        the step's requests are computed one by one, to find the one that cannot be.
        Returns that one when it is found: the caller fails it.
        """
        for chunk in chunks:
            self._send_back(chunk.request)
        tokens = sum(chunk.num_tokens for chunk in chunks)
        if out_of_memory and self.limit.lower(tokens):
            return None
        if len(chunks) == 1:
            return chunks[0].request
        self._isolated.update(chunk.request.request_id for chunk in chunks)
        return None

    def _schedule_isolated(self) -> list[Chunk]:
        """A step with the first isolated request alone, whatever room that takes."""
        request = min((self._requests[i] for i in self._isolated), key=self._queue_key)
        if request.status is RequestStatus.RUNNING:
            return self._continue_alone(request)
        while True:
            prefix = self._kv.find_prefix(request)
            if not self._kv.can_hold(request, prefix):
                if not self._running:
                    return []  # the rest is reserved for what comes from elsewhere
                self._preempt(max(self._running, key=self._queue_key))
            elif self._kv.is_intact(prefix):
                break
        chunks: dict[str, Chunk] = {}
        self._start(request, prefix, self.limit.tokens, chunks)
        return list(chunks.values())

    def _continue_alone(self, request: Request) -> list[Chunk]:
        """The next chunk of an isolated request whose prompt takes several steps; none while the
        blocks for it are reserved."""
        num_tokens = self._up_to(request, request.num_computed, self.limit.tokens)
        while not self._kv.grow(request, num_tokens):
            others = [other for other in self._running if other is not request]
            if not others:
                return []
            self._preempt(max(others, key=self._queue_key))
        return [Chunk(request, request.num_computed, num_tokens)]

    def _budget(self, drafts: Mapping[str, Sequence[int]]) -> int:
        """Tokens of the next step; always enough for one of each running request."""
        decoding = [request for request in self._running if not _is_prefilling(request)]
        limit = self.limit.tokens
        if not decoding or self._waits_for_batches(decoding):
            return limit
        tokens = sum(1 + len(drafts.get(request.request_id, ())) for request in decoding)
        prompt_tokens = self.prefill_budget.tokens(tokens, self._left_of_next_prompt())
        mixed = min(self._config.mixed_step_tokens, tokens + prompt_tokens)
        return min(limit, max(mixed, len(self._running)))

    def _waits_for_batches(self, decoding: Sequence[Request]) -> bool:
        """Whether none but lines of batches would be slowed down by the next prompt."""
        if self._config.policy != "priority" or (request := self._next_prompt()) is None:
            return False
        ahead = min(one.priority for one in decoding) - request.priority
        return ahead >= self._config.batch_priority

    def _next_prompt(self) -> Request | None:
        """The prompt whose turn it is."""
        begun = [request for request in self._running if _is_prefilling(request)]
        following = begun or self._waiting[:1]
        return min(following, key=self._queue_key, default=None)

    def _left_of_next_prompt(self) -> int:
        """Tokens to compute of the prompt whose turn it is; 0 where there is none. Of one that has
        not begun what is cached is not known yet: its first chunk may be small."""
        request = self._next_prompt()
        return 0 if request is None else request.num_tokens - request.num_computed

    def _admit(self, budget: int, chunks: dict[str, Chunk]) -> None:
        """Start waiting requests, first by key, while budget, `max_num_seqs` and blocks allow."""
        max_running = min(self._config.max_num_seqs, self.limit.tokens)
        while self._waiting and budget > 0:
            request = self._waiting[0]
            if len(self._running) >= max_running:
                if not (freed := self._slot_for(request, chunks)):
                    return
                budget += freed
            if self._whole_prompts and chunks and request.num_tokens > budget:
                return  # it begins a step of its own, whatever room that takes
            prefix = self._kv.find_prefix(request)
            if not self._kv.can_hold(request, prefix):
                return
            if not self._kv.is_intact(prefix):
                continue  # look again: what was changed is no longer found
            budget -= self._start(request, prefix, budget, chunks)

    def _slot_for(self, request: Request, chunks: dict[str, Chunk]) -> int:
        """Take the slot of a request that may wait for any other, as those of batches may; the
        tokens of this step that it gives up, 0 where there is no such request."""
        victim = max(self._running, key=self._queue_key)
        if victim.priority - request.priority < self._config.batch_priority:
            return 0
        if self._config.policy != "priority" or victim.request_id not in chunks:
            return 0
        self._preempt(victim)
        return chunks.pop(victim.request_id).num_tokens

    def _start(
        self, request: Request, prefix: Prefix, budget: int, chunks: dict[str, Chunk]
    ) -> int:
        """Let a waiting request run, with its first chunk; returns the chunk's tokens."""
        cached = len(prefix) * self._kv.block_size or request.swapped_tokens
        num_tokens = request.num_tokens - cached
        if not self._whole_prompts:
            num_tokens = self._up_to(request, cached, budget)
        self._kv.start(request, prefix, num_tokens)
        self._waiting.remove(request)
        request.status = RequestStatus.RUNNING
        if not request.was_scheduled:
            request.was_scheduled = True
            request.cached_tokens = cached
        self._running.append(request)
        chunks[request.request_id] = Chunk(request, cached, num_tokens)
        return num_tokens

    def _up_to(self, request: Request, start: int, budget: int) -> int:
        """How many of a request's tokens from `start` on a step computes: no more than the budget,
        but for an image that is computed whole."""
        end = min(request.num_tokens, start + budget)
        if self._whole_images:
            for image in request.images:
                if image.start < end < image.end:
                    end = image.start if image.start > start else image.end
        return end - start

    def _grow_for_draft(self, request: Request, num_tokens: int) -> bool:
        """Make room for draft tokens too, if that leaves every request the block it may need."""
        roomy = self._kv.num_free > len(self._running)
        return roomy and self._kv.grow(request, num_tokens)

    def _preempt(self, request: Request) -> None:
        if self._kv.swap_out(request):
            self.swaps += 1
        self._send_back(request)
        self.preemptions += 1

    def _send_back(self, request: Request) -> None:
        """Take a request's blocks; it waits again and recomputes what is not cached."""
        self._kv.forget_uncomputed(request)
        self._kv.free(request)
        self._running.remove(request)
        request.status = RequestStatus.WAITING
        insort(self._waiting, request, key=self._queue_key)

    def _leave_queue(self, request: Request) -> None:
        queue = self._running if request.status is RequestStatus.RUNNING else self._waiting
        queue.remove(request)

    def _queue_key(self, request: Request) -> tuple[float, str]:
        """When the request counts as arrived; smaller runs sooner.

        A priority level, or an expected token, is worth a fixed time of waiting. All
        waiting requests age alike, so the order between two never changes, and every
        request is first at some time: nothing starves.
        """
        if self._config.policy == "priority":
            handicap = request.priority * self._config.priority_seconds
        elif self._config.policy == "shortest":
            expected = len(request.prompt_token_ids) + request.sampling.max_tokens
            handicap = expected * self._config.token_seconds
        else:
            handicap = 0.0
        return request.arrived_at + handicap, request.request_id


def _is_prefilling(request: Request) -> bool:
    return request.num_tokens - request.num_computed > 1
