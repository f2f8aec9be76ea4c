"""Which request runs first, and that a long prompt does not stall decode requests."""

from __future__ import annotations

from inference.cache.kv_cache_manager import KVCacheManager
from inference.config import SchedulerConfig
from inference.core import Chunk, Request, SamplingParams
from inference.scheduler.scheduler import Scheduler


def make(num_blocks: int = 100, **config) -> Scheduler:
    return Scheduler(SchedulerConfig(**config), KVCacheManager(num_blocks, 16))


def request(name: str, length: int = 8, *, at: float = 0.0, priority: int = 0, answer: int = 50):
    return Request(
        name,
        list(range(length)),
        SamplingParams(max_tokens=answer),
        priority=priority,
        arrived_at=at,
    )


def order(scheduler: Scheduler) -> list[str]:
    names = []
    while scheduler.has_work:
        for chunk in scheduler.schedule():
            names.append(chunk.request.request_id)
            scheduler.finish(chunk.request)
    return names


def step(scheduler: Scheduler) -> list[Chunk]:
    """A step that is computed; each request that ends its prompt there gets a token."""
    chunks = scheduler.schedule()
    for chunk in chunks:
        scheduler.complete(chunk, [7] if chunk.samples else [])
    return chunks


def test_fcfs_queue_ignores_priority():
    scheduler = make(max_num_seqs=1, policy="fcfs")
    for name, at, priority in (("b", 2, -5), ("a", 1, 5), ("c", 3, 0)):
        scheduler.add(request(name, at=at, priority=priority))
    assert order(scheduler) == ["a", "b", "c"]


def test_smaller_priority_runs_first_until_the_other_has_waited_longer():
    scheduler = make(max_num_seqs=1, policy="priority", priority_seconds=20)
    scheduler.add(request("free that waited", at=0, priority=1))
    scheduler.add(request("premium soon after", at=19, priority=0))
    scheduler.add(request("premium much later", at=21, priority=0))
    assert order(scheduler) == ["premium soon after", "free that waited", "premium much later"]


def test_request_takes_the_slot_of_a_batch_but_of_no_other():
    scheduler = make(max_num_seqs=2, policy="priority")
    for name in ("line 1", "line 2"):
        scheduler.add(request(name, priority=1000))
    assert len(step(scheduler)) == 2
    scheduler.add(request("free", at=5, priority=10))
    assert {chunk.request.request_id for chunk in step(scheduler)} == {"line 1", "free"}
    scheduler.add(request("premium", at=6))
    scheduler.add(request("premium later", at=7))
    assert {chunk.request.request_id for chunk in step(scheduler)} == {"free", "premium"}
    assert {chunk.request.request_id for chunk in step(scheduler)} == {"free", "premium"}
    assert scheduler.preemptions == 2
    assert order(scheduler)[-2:] == ["line 1", "line 2"]


def test_prompt_is_computed_at_once_beside_lines_of_batches_alone():
    scheduler = make(max_num_batched_tokens=512, mixed_step_tokens=32)
    scheduler.add(request("line", length=4, priority=1000))
    step(scheduler)
    scheduler.add(request("long", length=400, at=1))
    assert [chunk.num_tokens for chunk in step(scheduler)] == [1, 400]
    scheduler.add(request("later", length=300, at=2))  # beside an answer that somebody reads
    assert sum(chunk.num_tokens for chunk in step(scheduler)) <= 32


def test_shortest_request_runs_first_under_policy_shortest():
    scheduler = make(max_num_seqs=1, policy="shortest")
    scheduler.add(request("long", at=0, answer=1000))
    scheduler.add(request("short", at=1, answer=10))
    assert order(scheduler) == ["short", "long"]


def test_long_prompt_is_computed_in_chunks_beside_decode_requests():
    scheduler = make(max_num_batched_tokens=512, mixed_step_tokens=32)
    decoding = request("decoding", length=4)
    scheduler.add(decoding)
    [chunk] = scheduler.schedule()
    scheduler.complete(chunk, [7])
    scheduler.add(request("long", length=300))
    for _ in range(5):
        chunks = {c.request.request_id: c.num_tokens for c in scheduler.schedule()}
        assert chunks == {"decoding": 1, "long": 31}
        for running in scheduler.running:
            running.num_computed += chunks[running.request_id]
        decoding.token_ids.append(7)


def test_prompt_takes_the_prefill_budget_beside_decode_requests():
    scheduler = make(max_num_batched_tokens=512, mixed_step_tokens=128, mixed_step_slowdown=2.0)
    scheduler.prefill_budget.step_done(1, 0, seconds=0.1)
    scheduler.prefill_budget.step_done(1, 100, seconds=0.35)
    decoding = request("decoding", length=4)
    scheduler.add(decoding)
    [chunk] = scheduler.schedule()
    assert chunk.num_tokens == 4
    scheduler.complete(chunk, [7])
    scheduler.add(request("long", length=300))
    assert [chunk.num_tokens for chunk in scheduler.schedule()] == [1, 40]


def test_long_prompt_gets_the_smaller_minimum_when_machine_is_slow():
    scheduler = make(max_num_batched_tokens=2048, mixed_step_tokens=128, mixed_step_slowdown=2.0)
    scheduler.prefill_budget.step_done(1, 0, seconds=0.1)
    scheduler.prefill_budget.step_done(1, 10, seconds=9.0)
    decoding, prompt = request("decoding", length=4), request("prompt", length=540)
    scheduler.add(decoding)
    [chunk] = scheduler.schedule()
    scheduler.complete(chunk, [7])
    scheduler.add(prompt)
    taken = []
    for _ in range(6):
        chunks = scheduler.schedule()
        taken.append(chunks[1].num_tokens)
        for chunk in chunks:
            scheduler.complete(chunk, [7] if chunk.samples else [])
    assert taken == [8, 8, 8, 8, 32, 32]  # until fewer than 512 are left


def test_first_request_by_queue_key_is_never_preempted():
    scheduler = make(num_blocks=6, max_num_seqs=4, policy="priority", priority_seconds=1000)
    first = request("first", length=30, at=5, priority=0)
    for name in ("x", "y"):
        scheduler.add(request(name, length=30, at=0, priority=1))
    scheduler.add(first)
    for _ in range(60):
        for chunk in scheduler.schedule():
            scheduler.complete(chunk, [7] if chunk.samples else [])
        assert first.num_computed > 0
    assert scheduler.preemptions > 0
    assert first.num_computed > 80


def test_every_decode_request_advances_when_they_exceed_the_mixed_step():
    scheduler = make(max_num_seqs=20, max_num_batched_tokens=400, mixed_step_tokens=8)
    for index in range(20):
        scheduler.add(request(f"r{index}", at=index))
    for _ in range(3):
        chunks = scheduler.schedule()
        assert len(chunks) == 20
        for chunk in chunks:
            scheduler.complete(chunk, [7])


def test_running_requests_never_exceed_the_tokens_of_a_step():
    scheduler = make(max_num_seqs=20, max_num_batched_tokens=5)
    for index in range(20):
        scheduler.add(request(f"r{index}", length=1, at=index))
    for _ in range(3):
        chunks = scheduler.schedule()
        assert len(chunks) == 5
        for chunk in chunks:
            scheduler.complete(chunk, [7])
