"""Memory is given by blocks as tokens come: little of what is held is empty."""

from __future__ import annotations

import random
from statistics import fmean

from inference.bench.lengths import sharegpt_lengths
from inference.cache.kv_cache_manager import KVCacheManager
from inference.config import SchedulerConfig
from inference.core import Request, SamplingParams
from inference.scheduler.scheduler import Scheduler


def test_kv_waste_stays_below_four_per_cent_on_chats():
    """Lengths as in ShareGPT, more sequences than seats, more tokens than blocks."""
    kv = KVCacheManager(num_blocks=1500, block_size=16)
    scheduler = Scheduler(SchedulerConfig(max_num_seqs=64), kv)
    rng = random.Random(1)
    for index, (prompt, answer) in enumerate(sharegpt_lengths(150, rng)):
        tokens = [rng.randrange(1000) for _ in range(prompt)]
        sampling = SamplingParams(max_tokens=answer)
        scheduler.add(Request(f"r{index}", tokens, sampling, arrived_at=index))
    waste = []
    while scheduler.has_work:
        for chunk in scheduler.schedule():
            scheduler.complete(chunk, [7] if chunk.samples else [])
            if chunk.request.num_output_tokens >= chunk.request.sampling.max_tokens:
                scheduler.finish(chunk.request)
        if scheduler.num_running > 1:
            waste.append(kv.waste(scheduler.running))
    assert scheduler.preemptions > 0
    assert kv.pool.num_used == 0
    assert 0 < fmean(waste) <= 0.04
    print(f"mean waste {fmean(waste):.2%} over {len(waste)} steps")
