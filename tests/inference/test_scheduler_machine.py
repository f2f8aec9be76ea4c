"""Promise 6 as a state machine: whatever arrives, is aborted or fails, no block leaks.

Drives scheduler and block pool without a model: a step's result is a made-up token.
After every rule the invariants written down in block_pool.py and request.py are checked.
"""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from inference.cache.kv_cache_manager import KVCacheManager
from inference.config import SchedulerConfig
from inference.core import Request, RequestStatus, SamplingParams, WindowedBlocks
from inference.scheduler.scheduler import Scheduler

BLOCK_SIZE, NUM_BLOCKS, MAX_LEN, HOST_BLOCKS = 4, 12, 40, 9
PREFIX = list(range(100, 120))
MAX_WAIT_S = 20.0
WINDOW, WINDOWED_BLOCKS = 7, 8


class SchedulerMachine(RuleBasedStateMachine):
    def make_kv(self) -> KVCacheManager:
        return KVCacheManager(NUM_BLOCKS, BLOCK_SIZE, swap_blocks=HOST_BLOCKS)

    def __init__(self) -> None:
        super().__init__()
        self.config = SchedulerConfig(
            max_num_seqs=4,
            max_num_batched_tokens=16,
            mixed_step_tokens=7,
            policy="priority",
            max_wait_s=MAX_WAIT_S,
        )
        self.kv = self.make_kv()
        self.scheduler = Scheduler(self.config, self.kv)
        self.requests: dict[str, Request] = {}
        self.clock = 0.0
        self.suspects: set[str] = set()
        """Requests of a failed step whose prompts have not been computed since."""
        self.contents: list[dict[int, tuple[str, tuple[int, ...]]]] = [{}, {}]
        """Of each group's blocks, what they really hold: salt and all tokens up to their end."""
        self.host_content: dict[int, tuple[str, tuple[int, ...]]] = {}

    @rule(
        shared=st.integers(0, len(PREFIX)),
        own=st.lists(st.integers(0, 3), min_size=1, max_size=15),
        max_tokens=st.integers(1, 12),
        priority=st.sampled_from([-1, 0, 1, 2, 1000]),
        salt=st.sampled_from(["", "a"]),
        lasts=st.sampled_from([None, 3.0, 30.0]),
    )
    def add(self, shared, own, max_tokens, priority, salt, lasts):
        prompt = (PREFIX[:shared] + own)[: MAX_LEN - 1]
        self.clock += 1.0
        request = Request(
            f"r{len(self.requests)}-{self.clock}",
            prompt,
            SamplingParams(max_tokens=max_tokens),
            priority=priority,
            arrived_at=self.clock,
            cache_salt=salt,
            deadline=lasts and self.clock + lasts,
        )
        self.requests[request.request_id] = request
        self.scheduler.add(request)

    @precondition(lambda self: self.requests)
    @rule(data=st.data())
    def abort(self, data):
        request = self.requests.pop(data.draw(st.sampled_from(sorted(self.requests))))
        self.scheduler.finish(request)
        assert request.block_ids == []

    @rule(token=st.integers(0, 3), drafted=st.integers(0, 6), right=st.integers(0, 6))
    def step(self, token, drafted=0, right=0):
        """Each decode request has `drafted` draft tokens, of which up to `right` are right."""
        decoding = [r for r in self.scheduler.running if r.num_tokens - r.num_computed == 1]
        # Lines of batches may be slowed down by the prompts of others.
        is_decoding = any(r.priority < self.config.batch_priority for r in decoding)
        suspects = len(self.suspects & set(self.requests))
        drafts = {r.request_id: [token] * min(drafted, MAX_LEN - r.num_tokens) for r in decoding}
        chunks = self.scheduler.schedule(drafts)
        assert bool(chunks) == bool(self.requests)
        assert sum(chunk.num_tokens for chunk in chunks) <= (
            self.config.mixed_step_tokens
            if is_decoding and not suspects
            else self.config.max_num_batched_tokens
        )
        assert not suspects or len(chunks) == 1
        self.suspects -= {chunk.request.request_id for chunk in chunks if chunk.samples}
        self._check_chunks(chunks)
        self._move()
        for chunk in chunks:
            self._compute(chunk)
        for chunk in chunks:
            request = chunk.request
            accepted = min(right, len(chunk.draft), MAX_LEN - request.num_tokens - 1)
            self.scheduler.complete(chunk, [token] * (accepted + 1) if chunk.samples else ())
            out_of_room = request.num_tokens >= MAX_LEN
            if request.num_output_tokens >= request.sampling.max_tokens or out_of_room:
                self.scheduler.finish(self.requests.pop(request.request_id))

    @rule(out_of_memory=st.booleans())
    def failing_step(self, out_of_memory):
        """The model raises: nothing was computed. One request alone is to blame for it."""
        chunks = self.scheduler.schedule()
        if not chunks:
            return
        self._move()
        limit = self.scheduler.limit.tokens
        culprit = self.scheduler.retry(chunks, out_of_memory=out_of_memory)
        assert all(chunk.request.block_ids == [] for chunk in chunks)
        if self.scheduler.limit.tokens < limit:
            assert out_of_memory
            assert culprit is None
        elif len(chunks) == 1:
            assert culprit is chunks[0].request
            self.scheduler.finish(self.requests.pop(culprit.request_id))
        else:
            assert culprit is None
            self.suspects |= {chunk.request.request_id for chunk in chunks}

    @rule(seconds=st.floats(0, 2 * MAX_WAIT_S))
    def time_passes(self, seconds):
        """Who is past the deadline ends, and who waited too long without having begun."""
        self.clock += seconds
        expired = self.scheduler.expired(self.clock)
        for request in self.requests.values():
            late = request.deadline is not None and request.deadline <= self.clock
            began = request.was_scheduled
            kept_waiting = not began and self.clock - request.arrived_at > MAX_WAIT_S
            assert (request in expired) == (late or kept_waiting)
        for request in expired:
            self.scheduler.finish(self.requests.pop(request.request_id))

    @rule(pays=st.booleans())
    def swapping_is_measured(self, pays):
        self.kv.swap_costs.token_s, self.kv.swap_costs.block_s = (1.0, 0.1 if pays else 10.0)

    def _move(self):
        """Make the copies of a step as a runner would: all out, then all back."""
        copies = self.kv.swap_space.take_copies()
        for block_id, host in copies.out:
            self.host_content[host] = self.contents[0][block_id]
        for host, block_id in copies.back:
            self.contents[0][block_id] = self.host_content[host]

    def _check_chunks(self, chunks):
        for chunk in chunks:
            request = chunk.request
            assert request.status is RequestStatus.RUNNING
            assert chunk.num_tokens > 0
            assert chunk.start == request.num_computed
            assert chunk.end <= request.num_tokens
            assert chunk.samples or not chunk.draft
            for group in self.kv.groups:
                block_ids = group.table(request).block_ids
                assert len(block_ids) * BLOCK_SIZE >= chunk.start + chunk.num_tokens

    def _compute(self, chunk):
        """Fill blocks as the model would, and check that reused ones hold what they must."""
        request = chunk.request
        for group, content in zip(self.kv.groups, self.contents, strict=False):
            table = group.table(request)
            first_seen = max(0, chunk.start - WINDOW + 1) if group is not self.kv.groups[0] else 0
            assert table.num_released * BLOCK_SIZE <= first_seen
            for index in range(table.num_released, len(table.block_ids)):
                block_id = table.block_ids[index]
                begin, end = index * BLOCK_SIZE, (index + 1) * BLOCK_SIZE
                known = (request.cache_salt, tuple(request.token_ids[:end]))
                if end <= chunk.start:
                    assert content[block_id] == known
                elif begin < chunk.start:
                    salt, tokens = content[block_id]
                    assert salt == request.cache_salt
                    assert tokens[: chunk.start] == tuple(request.token_ids[: chunk.start])
                    self._write(content, chunk, block_id, end)
                elif begin < chunk.start + chunk.num_tokens:
                    self._write(content, chunk, block_id, end)

    def _write(self, content, chunk, block_id, end):
        request = chunk.request
        written = [*request.token_ids[: chunk.start], *chunk.token_ids]
        done = written[: min(end, chunk.start + chunk.num_tokens)]
        content[block_id] = (request.cache_salt, tuple(done))

    @invariant()
    def every_block_is_free_or_referenced(self):
        for group in self.kv.groups:
            pool = group.pool
            references = [0] * pool.total
            for request in self.requests.values():
                table = group.table(request)
                own = table.block_ids[table.num_released :]
                assert len(set(own)) == len(own)
                for block_id in own:
                    references[block_id] += 1
            assert references == [pool.references(i) for i in range(pool.total)]
            assert pool.num_free == references.count(0)
            assert pool.num_free + pool.num_used == pool.total

    @invariant()
    def cached_blocks_hold_what_their_hash_says(self):
        blocks = list(self.kv.pool.cached().values())
        assert len(set(blocks)) == len(blocks)
        for block_id in blocks:
            salt, tokens = self.contents[0][block_id]
            assert len(tokens) % BLOCK_SIZE == 0
            twin = Request("twin", [*tokens, 0], SamplingParams(max_tokens=1), cache_salt=salt)
            # Found through the tokens, unless an ancestor was evicted before it.
            prefix = KVCacheManager.find_prefix(self.kv, twin)
            if len(prefix) * BLOCK_SIZE == len(tokens):
                assert prefix.blocks[0][-1] == block_id

    @invariant()
    def blocks_of_a_prefix_hold_its_last_tokens(self):
        """Of layers with a window those that the next token attends to, and no others."""
        for request in self.requests.values():
            prefix = KVCacheManager.find_prefix(self.kv, request)
            for blocks, content in zip(prefix.blocks, self.contents, strict=False):
                for index, block_id in enumerate(blocks, len(prefix) - len(blocks)):
                    end = (index + 1) * BLOCK_SIZE
                    known = (request.cache_salt, tuple(request.token_ids[:end]))
                    assert content[block_id] == known
            if len(prefix.blocks) > 1:
                first = len(prefix) - len(prefix.blocks[1])
                assert first == max(0, len(prefix) * BLOCK_SIZE - WINDOW + 1) // BLOCK_SIZE

    @invariant()
    def every_host_block_is_free_or_has_one_owner(self):
        space = self.kv.swap_space
        owned = [host for request in self.requests.values() for host in request.host_block_ids]
        assert len(set(owned)) == len(owned) == space.num_used
        for request in self.requests.values():
            assert request.status is RequestStatus.WAITING or not request.host_block_ids
            assert bool(request.swapped_tokens) == bool(request.host_block_ids)

    @invariant()
    def waiting_requests_hold_nothing(self):
        for request in self.requests.values():
            if request.status is RequestStatus.WAITING:
                assert all(table.block_ids == [] for table in request.tables)
                assert request.num_computed == 0
        assert self.scheduler.num_running <= self.config.max_num_seqs

    def teardown(self):
        """Everything ends: the work is finite, and all blocks come back."""
        for _ in range(2000):
            if not self.requests:
                break
            self.step(token=0, drafted=0, right=0)
        assert not self.requests, "a request starved"
        assert all(group.pool.num_used == 0 for group in self.kv.groups)
        assert self.kv.swap_space.num_used == 0
        assert not self.scheduler.has_work


class WindowedSchedulerMachine(SchedulerMachine):
    """The same for layers of two kinds; the fewest blocks of those with a window."""

    def make_kv(self) -> KVCacheManager:
        windowed = WindowedBlocks(WINDOWED_BLOCKS, WINDOW, most=7)  # of 7 + 16 tokens
        return KVCacheManager(NUM_BLOCKS, BLOCK_SIZE, windowed=windowed)


_EVERY_RUN = settings(max_examples=80, stateful_step_count=40, deadline=None, derandomize=True)
_AT_NIGHT = settings(_EVERY_RUN, max_examples=400)
_HERE = "tests/inference/test_scheduler_machine.py"
TestSchedulerMachine = SchedulerMachine.TestCase
TestSchedulerMachine.settings = _EVERY_RUN
TestWindowedSchedulerMachine = WindowedSchedulerMachine.TestCase
TestWindowedSchedulerMachine.settings = _EVERY_RUN


class ManyHistories(SchedulerMachine):
    """The same at night."""


class ManyWindowedHistories(WindowedSchedulerMachine):
    """The same at night."""


TestManyHistories = ManyHistories.TestCase
TestManyHistories.settings = _AT_NIGHT
pytest.mark.nightly(beside=f"{_HERE}::TestSchedulerMachine::runTest")(TestManyHistories)
TestManyWindowedHistories = ManyWindowedHistories.TestCase
TestManyWindowedHistories.settings = _AT_NIGHT
pytest.mark.nightly(beside=f"{_HERE}::TestWindowedSchedulerMachine::runTest")(
    TestManyWindowedHistories
)
