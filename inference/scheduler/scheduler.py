"""Which tokens are computed in the next step.

A step has one budget of tokens. Every request has tokens known and tokens computed; the
scheduler hands the difference out, decode requests first (one token each), then prompts
in chunks of whatever is left. Chunked prefill, prefix hits and recomputation after a
preemption all fall out of that one idea (it is vLLM V1's).

Prompts share their part of a step, so that a long one makes nobody wait: first a quarter for the
prompt that is first by queue key, which therefore always moves; then short prompts, those with the
least left first; then waiting requests, which begin; what these leave goes to the long prompts,
unless it would delay a first token. A long prompt waits until others are computed, unless it is
soon over beside them. Waiting requests are ordered by `queue_key`, which never changes.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence

from inference.cache.kv_cache_manager import KVCacheManager, Prefix
from inference.config import SchedulerConfig
from inference.core import Chunk, Request, RequestStatus
from inference.scheduler.batch_limit import BatchLimit
from inference.scheduler.prefill_budget import LONG_PREFILL_TOKENS, PrefillBudget
from inference.scheduler.prompt_order import is_prefilling, long_prompts, queue_key, tokens_left

_OLDEST_SHARE = 4
"""One part in so many of a step's prompt tokens is for the prompt that is first by queue key."""
_SOON_OVER = 2
"""A long prompt begins beside others that have so many times as much left."""


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
        chunks: dict[str, Chunk] = {}
        preemptions_before = self.preemptions
        budget = self._decode(budget, drafts, chunks)
        budget = self._continue_prompts(budget, chunks)
        if self.preemptions == preemptions_before:
            budget = self._admit(budget, chunks)
        if not any(chunk.samples and not chunk.is_decode for chunk in chunks.values()):
            for request in sorted(self._prompts(), key=tokens_left):
                budget = self._extend(request, budget, chunks, may_preempt=False)
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
        decoding = [request for request in self._running if not is_prefilling(request)]
        limit = self.limit.tokens
        if not decoding or self._waits_for_batches(decoding):
            return max(self.prefill_budget.tokens_alone(limit), min(limit, len(self._running)))
        tokens = sum(1 + len(drafts.get(request.request_id, ())) for request in decoding)
        prompt_tokens = self.prefill_budget.tokens(tokens, self._least_left())
        mixed = min(self._config.mixed_step_tokens, tokens + prompt_tokens)
        return min(limit, max(mixed, len(self._running)))

    def _waits_for_batches(self, decoding: Sequence[Request]) -> bool:
        """Whether none but lines of batches would be slowed down by the next prompt."""
        prompts = self._prompts() + self._waiting[:1]
        if self._config.policy != "priority" or not prompts:
            return False
        following = min(prompts, key=self._queue_key)
        ahead = min(one.priority for one in decoding) - following.priority
        return ahead >= self._config.batch_priority

    def _prompts(self) -> list[Request]:
        """Running requests whose prompt is not all computed."""
        return [request for request in self._running if is_prefilling(request)]

    def _least_left(self) -> int:
        """Tokens to compute of the shortest prompt that may be part of the next step; 0 where there
        is none. Of one that has not begun what is cached is not known yet: its first chunk may be
        small."""
        has_slot = len(self._running) < self._config.max_num_seqs
        prompts = self._prompts() + (self._waiting if has_slot else [])
        return min(map(tokens_left, prompts), default=0)

    def _decode(
        self, budget: int, drafts: Mapping[str, Sequence[int]], chunks: dict[str, Chunk]
    ) -> int:
        """A token for each decode request, and its draft; returns the budget that is left."""
        spare = budget - len(self._running)
        decoding = [request for request in self._running if not is_prefilling(request)]
        for request in sorted(decoding, key=self._queue_key):
            if request.status is not RequestStatus.RUNNING:
                continue  # preempted for one before it
            draft = tuple(drafts.get(request.request_id, ())[: max(spare, 0)])
            if draft and not self._grow_for_draft(request, 1 + len(draft)):
                draft = ()
            budget = self._extend(request, budget, chunks)
            if draft and request.request_id in chunks:
                start = request.num_computed
                chunks[request.request_id] = Chunk(request, start, 1 + len(draft), draft)
                spare -= len(draft)
                budget = max(0, budget - len(draft))
        return budget

    def _continue_prompts(self, budget: int, chunks: dict[str, Chunk]) -> int:
        """Go on with the prompt that is first by queue key, then with short ones; returns the
        budget that is left."""
        oldest = min(self._prompts(), key=self._queue_key, default=None)
        if oldest is not None:
            share = -(-budget // _OLDEST_SHARE)
            budget += self._extend(oldest, share, chunks) - share
        for request in sorted(self._prompts(), key=tokens_left):
            is_short = tokens_left(request) < LONG_PREFILL_TOKENS
            if is_short and request.status is RequestStatus.RUNNING:
                budget = self._extend(request, budget, chunks)
        return budget

    def _extend(
        self, request: Request, budget: int, chunks: dict[str, Chunk], *, may_preempt: bool = True
    ) -> int:
        """Let a running request compute more in this step, up to `budget` tokens.

        Args:
            may_preempt: take blocks of the last request by queue key, itself where it is that one.
        Returns:
            The budget that is left, with what preempted requests had of it.
        """
        has = chunks[request.request_id].num_tokens if request.request_id in chunks else 0
        num_tokens = self._up_to(request, request.num_computed, has + budget)
        if budget <= 0 or num_tokens <= has:
            return budget
        while not self._kv.grow(request, num_tokens):
            if not may_preempt:
                return budget
            victim = max(self._running, key=self._queue_key)
            self._preempt(victim)
            if dropped := chunks.pop(victim.request_id, None):
                budget += dropped.num_tokens
            if victim is request:
                return budget
        chunks[request.request_id] = Chunk(request, request.num_computed, num_tokens)
        return max(0, budget - (num_tokens - has))

    def _admit(self, budget: int, chunks: dict[str, Chunk]) -> int:
        """Start waiting requests, first by key, while budget, `max_num_seqs` and blocks allow;
        returns the budget that is left."""
        max_running = min(self._config.max_num_seqs, self.limit.tokens)
        begun = long_prompts(self._running, chunks)
        started = 0
        for request in tuple(self._waiting):
            if budget <= 0:
                break
            victim = None
            if len(self._running) >= max_running:
                victim = self._slot_of_batch(request, chunks)
                # A request that has started may share blocks that the victim was to compute.
                if victim is None or started:
                    break
            prefix = self._intact_prefix(request)
            left = request.num_tokens - self._cached_tokens(prefix, request)
            is_late = begun and left >= LONG_PREFILL_TOKENS
            if is_late and not self._begins_beside(begun, request, prefix, left):
                continue
            if victim is not None:
                self._preempt(victim)
                budget += chunks.pop(victim.request_id).num_tokens
                prefix = self._intact_prefix(request)
            if self._whole_prompts and chunks and request.num_tokens > budget:
                break  # it begins a step of its own, whatever room that takes
            if not self._kv.can_hold(request, prefix):
                break
            budget -= self._start(request, prefix, budget, chunks)
            started += 1
            begun = long_prompts(self._running, chunks)
        return budget

    def _intact_prefix(self, request: Request) -> Prefix:
        """The cached beginning of a waiting request; blocks that have changed are forgotten."""
        while not self._kv.is_intact(prefix := self._kv.find_prefix(request)):
            pass  # look again: what was changed is no longer found
        return prefix

    def _cached_tokens(self, prefix: Prefix, request: Request) -> int:
        return len(prefix) * self._kv.block_size or request.swapped_tokens

    def _begins_beside(
        self, begun: Mapping[Request, int], request: Request, prefix: Prefix, left: int
    ) -> bool:
        """Whether a long prompt begins beside others: where it is before them by queue key; or has
        at most half as much left as each, so that they are few, and there are blocks for all."""
        if self._queue_key(request) < min(map(self._queue_key, begun)):
            return True
        is_soon_over = _SOON_OVER * left <= min(begun.values())
        return is_soon_over and self._kv.can_hold(request, prefix, beside=list(begun))

    def _slot_of_batch(self, request: Request, chunks: Mapping[str, Chunk]) -> Request | None:
        """Whose slot a request takes that may wait for any other, as those of batches may; None
        where there is no such request in this step."""
        victim = max(self._running, key=self._queue_key)
        if victim.priority - request.priority < self._config.batch_priority:
            return None
        if self._config.policy != "priority" or victim.request_id not in chunks:
            return None
        return victim

    def _start(
        self, request: Request, prefix: Prefix, budget: int, chunks: dict[str, Chunk]
    ) -> int:
        """Let a waiting request run, with its first chunk; returns the chunk's tokens."""
        cached = self._cached_tokens(prefix, request)
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
        return queue_key(self._config, request)
