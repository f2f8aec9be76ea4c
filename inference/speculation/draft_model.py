"""Draft tokens from a smaller model with the same vocabulary.

The draft model has blocks of its own and follows each request by a twin: the same tokens
and sampling, computed by the small model. It samples with the random numbers that the
large model will use, so that alike distributions give alike tokens. Nothing of
it is ever answered, so it may always be behind, or leave a request out.
Source: Leviathan et al. 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import msgspec

from inference.cache.kv_cache_manager import KVCacheManager
from inference.core import Chunk, Request, RequestStatus, StepRunner

_CATCH_UP_TOKENS = 256
"""Of a prompt, computed before one step: a long one is followed over several steps, so
that decode requests do not wait for it."""


class DraftModel:
    """A `Proposer`."""

    def __init__(self, runner: StepRunner, block_size: int) -> None:
        self._runner = runner
        self.kv = KVCacheManager(runner.num_blocks, block_size, prefix_cache=False)
        self._twins: dict[Request, Request] = {}

    def propose(self, asked: Sequence[tuple[Request, int]]) -> list[list[int]]:
        """For each request at most so many tokens that may follow its known ones."""
        self._forget_ended()
        wanted: dict[Request, int] = {}  # twin to the length that is asked for
        for request, count in asked:
            if request.num_tokens + count <= self._runner.max_model_len:
                wanted[self._follow(request)] = request.num_tokens + count
        going = list(wanted)
        budget = _CATCH_UP_TOKENS
        while going:
            going = [t for t in self._sample_one_each(going, budget) if t.num_tokens < wanted[t]]
            budget = len(going)  # all have caught up: one token each
        return [self._draft(request, count) for request, count in asked]

    def _sample_one_each(self, twins: list[Request], budget: int) -> list[Request]:
        """Compute a step of the small model; returns the twins that got one token more."""
        chunks = []
        for twin in twins:
            num_tokens = min(twin.num_tokens - twin.num_computed, budget)
            if num_tokens > 0 and self.kv.grow(twin, num_tokens):
                chunks.append(Chunk(twin, twin.num_computed, num_tokens))
                budget -= num_tokens
        if not chunks:
            return []
        results = self._runner.execute(chunks)
        sampled = []
        for chunk, result in zip(chunks, results, strict=True):
            chunk.request.num_computed = chunk.end
            if isinstance(result, list):
                chunk.request.token_ids.extend(each.token_id for each in result)
                sampled.append(chunk.request)
        return sampled

    def _follow(self, request: Request) -> Request:
        """The request's twin with its known tokens; right draft tokens stay computed."""
        twin = self._twins.get(request)
        if twin is None:
            sampling = msgspec.structs.replace(
                request.sampling, logprobs=None, grammar="", grammar_prefix=()
            )
            twin = Request(request.request_id, request.prompt_token_ids, sampling)
            self._twins[request] = twin
        both = zip(twin.token_ids[: twin.num_computed], request.token_ids, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
        twin.token_ids = list(request.token_ids)
        twin.num_computed = min(same, twin.num_tokens - 1)
        return twin

    def _draft(self, request: Request, count: int) -> list[int]:
        twin = self._twins.get(request)
        return twin.token_ids[request.num_tokens :][:count] if twin else []

    def _forget_ended(self) -> None:
        """Free what is held for requests that ended, or that were preempted."""
        for request in [r for r in self._twins if r.status is not RequestStatus.RUNNING]:
            self.kv.free(self._twins.pop(request))
